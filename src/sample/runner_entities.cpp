// SPDX-License-Identifier: Apache-2.0
// Entities as they are found, identified, lost and found again.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sample/runner_core.hpp"
#include "sample/state_words.hpp"

namespace gpulse {

// A metric that no reader fills is not supported; the others are not sampled yet.
Row Runner::Core::initial_row(Scope scope) const {
  Row row(scope, Reason::not_supported);
  for (const auto &info : source->readers()) {
    for (const auto id : info.fills) {
      if (describe(id).scope == scope && !is_text(describe(id))) row[id] = Reason::not_sampled;
    }
  }
  return row;
}

bool Runner::Core::wants(const ReaderInfo &info) const {
  if (options.only) return options.only->contains_any(info.fills);
  return !fills_only_details(info);
}

void Runner::Core::focus(std::shared_ptr<const MetricSet> set) {
  in_focus = std::move(set);
  for (auto &[number, cost] : readers) {
    const auto fills = cost.info().fills;
    cost.focus(in_focus == nullptr || fills.empty() || in_focus->contains_any(fills), options.rest);
    cost.update_tier(tick, entities.size());
  }
}

void Runner::Core::start_frame(Entity &entity) const {
  entity.frame = {.row = entity.initial, .processes = {}};
  if (entity.found.scope != Scope::device || !options.only || !options.only->contains_any(Scope::detail)) return;
  entity.frame.details = std::make_shared<DeviceDetails>();
  entity.frame.details->row = initial_row(Scope::detail);
}

void Runner::Core::set_state(Entity &entity, DeviceState state) {
  if (entity.state == state) return;
  const auto before = entity.state;
  entity.state = state;
  entity.state_since = monotonic_now();
  if (entity.found.identity == nullptr) return;
  const auto &uuid = entity.found.identity->uuid;
  if (state == DeviceState::ok)
    note(uuid, EventKind::back, fmt::format("no longer {}", word(before)));
  else
    note(uuid, event_of(state), std::string(word(state)));
}

// Its last readings are not shown twice: false when there are none, because it does not respond.
[[gnu::hot]] bool Runner::Core::take_row(Entity &entity, Row &row) const {
  const bool silent = discovery_hangs || (is_in_service(entity) && !entity.fresh);
  if (silent || !entity.has_row) entity.row.fill(silent ? Reason::not_responding : entity.withdrawn);
  std::swap(row, entity.row);
  entity.has_row = entity.fresh = false;
  return !silent;
}

// Puts what there is to report of a device in its place.
[[gnu::hot]] void Runner::Core::take(Entity &entity, Monotonic now, Snapshot &snapshot, std::size_t place) const {
  if (place == snapshot.devices.size()) snapshot.devices.emplace_back();
  auto &device = snapshot.devices[place];
  device.identity = entity.found.identity;
  device.state = entity.state;
  device.state_for = entity.state == DeviceState::ok ? Seconds(0) : now - entity.state_since;
  device.details = entity.details;
  if (!take_row(entity, device.row)) {
    mark_silent(entity, now, device);
    entity.processes.clear();
  }
  for (auto &process : entity.processes) {
    process.device.index = static_cast<std::uint32_t>(place);
    snapshot.processes.push_back(std::move(process));
  }
  entity.processes.clear();
}

void Runner::Core::take_host(Entity &entity, Snapshot &snapshot) const {
  if (!take_row(entity, snapshot.host)) entity.cores.clear();
  snapshot.cores = std::exchange(entity.cores, {});
}

void Runner::Core::mark_silent(const Entity &entity, Monotonic now, Device &device) const {
  const auto since = discovery_hangs ? discovery_hangs_since : entity.busy ? entity.busy_since : pass_begun;
  if (entity.state != DeviceState::not_responding) device.state_for = now - since;
  device.state = DeviceState::not_responding;
  device.details.reset();
}

void Runner::Core::list_devices(SourceReport &report) {
  status_changed = true;  // it has their number
  report.devices.clear();
  for (const auto &entity : entities) {
    if (!entity->dropped && entity->found.scope == Scope::device) report.devices.push_back(entity->found);
  }
}

void Runner::Core::tell_status(SourceReport &report, Monotonic now) const {
  report.absent = absent;
  report.status = status;
  report.status.devices = static_cast<std::uint32_t>(report.devices.size());
  if (!discovery_hangs) return;
  report.status.problem = fmt::format("{} driver not responding for {:.0f} s", source->name(),
                                      Seconds(now - discovery_hangs_since).count());
  report.status.remedy = "see the kernel log";
  report.status.hangs = true;
}

[[gnu::hot]] std::uint32_t Runner::Core::count_slowed() const {
  std::uint32_t slowed = 0;
  for (const auto &reader : readers) slowed += reader.cost.slowed() ? 1U : 0U;
  return slowed;
}

Runner::Core::EntityPtr Runner::Core::make_entity(const Found &found, std::size_t place) const {
  auto entity = std::make_shared<Entity>(found, initial_row(found.scope), readers.size());
  entity->place = place;
  return entity;
}

// The entity as it was known before the last discovery; null when it was not.
Runner::Core::EntityPtr Runner::Core::take_former(const Found &found) {
  const auto known = std::find_if(former.begin(), former.end(), [&](const auto &e) {
    return (e->found.identity == nullptr && found.identity == nullptr) ||
           (e->found.identity != nullptr && found.identity != nullptr &&
            e->found.identity->uuid == found.identity->uuid);
  });
  if (known == former.end()) return nullptr;
  auto entity = *known;
  former.erase(known);
  return entity;
}

void Runner::Core::replace(const EntityPtr &entity, const EntityPtr &by) {
  std::replace(entities.begin(), entities.end(), EntityPtr(entity), by);
}

// The driver has said which entity it is. If it was known before, it goes on as that one. Returns the one to read.
Runner::Core::EntityPtr Runner::Core::settle(EntityPtr entity, Found found) {
  if (const auto known = take_former(found)) {
    known->place = entity->place;
    replace(entity, known);
    entity = known;
    std::fill(entity->turns.begin(), entity->turns.end(), ReaderTurn{});
  } else if (discoveries > 1 && !entity->hung && found.identity != nullptr) {
    note(found.identity->uuid, EventKind::found, "found");
  }
  entity->found = std::move(found);
  entity->complete = false;
  start_frame(*entity);
  // One that did not respond is back when it has been read.
  if (entity->found.state == DeviceState::ok && entity->state == DeviceState::not_responding) return entity;
  set_state(*entity, entity->found.state);
  if (entity->found.state == DeviceState::ok) return entity;
  entity->withdraw(entity->found.code != 0 ? Reading(Reason::error, entity->found.code)
                                           : reason_of(entity->found.state));
  return entity;
}

// Asks the driver about the worker's entity. False when there is nothing to read afterwards.
bool Runner::Core::identify(Worker &self, std::size_t place) {
  auto told = source->identify(place);
  const std::lock_guard lock(mutex);
  last_identified = monotonic_now();
  self.step = Step::reading;
  const auto provisional = self.entity;
  if (status.problem.empty() && !told.problem.empty()) {
    change_status().problem = std::move(told.problem);
    status.remedy = std::move(told.remedy);
  }
  if (!told.found) {
    provisional->place.reset();
    provisional->dropped = true;
    return false;
  }
  const auto &shown_as = provisional->found.identity->uuid;
  if (told.found->identity->uuid != shown_as) told.found->shown_as = shown_as;
  const auto entity = settle(provisional, std::move(*told.found));
  if (entity != provisional) {
    provisional->busy = provisional->hung = false;
    entity->busy = true;
    entity->busy_since = provisional->busy_since;
    self.entity = entity;
  }
  for (auto &[part_place, part] : told.parts) {
    auto one = make_entity(part, part_place);
    entities.push_back(one);
    settle(one, std::move(part));
  }
  return entity->state != DeviceState::lost && entity->state != DeviceState::asleep && !self.left_behind;
}

void Runner::Core::adopt(Discovery found) {
  ++discoveries;
  unsettled = true;
  incomplete = found.incomplete;
  for (auto &entity : entities) former.push_back(std::move(entity));
  entities.clear();
  for (std::size_t place = 0; place < found.entities.size(); ++place) {
    auto &one = found.entities[place];
    auto entity = make_entity(one, place);
    entities.push_back(entity);
    if (one.identified) settle(std::move(entity), std::move(one));
  }
  change_status().problem = std::move(found.problem);
  status.remedy = std::move(found.remedy);
  status.driver = std::move(found.driver);
  status.mistake = found.mistake;
  status.code = found.code;
  status.excluded = std::move(found.excluded);
  absent = found.absent;
}

// A whole device that has disappeared is lost; an instance was removed on purpose. A device that never gave a reading,
// or whose bus address another one has now, was only known under a provisional name.
void Runner::Core::retire_former() {
  const auto renamed = [&](const DeviceIdentity &identity) {
    return !identity.pci.empty() && std::any_of(entities.begin(), entities.end(), [&](const auto &e) {
      return e->found.identity != nullptr && e->found.identity->pci == identity.pci;
    });
  };
  for (auto &entity : former) {
    const auto *identity = entity->found.identity.get();
    if (identity == nullptr || !identity->parent.empty() || !entity->has_readings || renamed(*identity)) continue;
    if (entity->dropped) continue;
    entity->place.reset();
    entity->withdraw(Reason::lost);
    set_state(*entity, DeviceState::lost);
    entities.push_back(std::move(entity));
  }
  former.clear();
}

}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
#include "sample/runner_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpulse {

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestRetry = 60s;
constexpr std::size_t kMaxEvents = 256;

Reason reason_for(DeviceState state) {
  switch (state) {
    case DeviceState::asleep:
      return Reason::asleep;
    case DeviceState::not_responding:
      return Reason::not_responding;
    default:
      return Reason::lost;
  }
}

EventKind event_of(DeviceState state) {
  switch (state) {
    case DeviceState::asleep:
      return EventKind::asleep;
    case DeviceState::lost:
      return EventKind::lost;
    case DeviceState::not_responding:
      return EventKind::not_responding;
    case DeviceState::ok:
      break;
  }
  return EventKind::back;
}

}  // namespace

void Runner::Core::work(const std::shared_ptr<Worker> &self) {
  std::unique_lock lock(mutex);
  for (;;) {
    asked.wait(lock, [&] { return stopping || working; });
    if (stopping) break;
    lock.unlock();
    if (!serve(*self)) return;
    lock.lock();
  }
  // Closing a source calls the driver too, and may hang like any other call. While another call of it hangs, the last
  // thread to return closes it.
  std::shared_ptr<Source> closing;
  if (!any_call_hangs()) closing = std::move(source);
  lock.unlock();
  closing.reset();
  lock.lock();
  ended = true;
  done.notify_all();
}

// Runs the requested pass. False when this worker was left behind in it.
bool Runner::Core::serve(Worker &self) {
  std::unique_lock lock(mutex);
  const auto what = requested;
  lock.unlock();
  if (!try_pass(self, what)) return false;
  lock.lock();
  working = false;
  resume_from = 0;
  // Unlock first, so that the woken thread does not block on the mutex.
  lock.unlock();
  done.notify_all();
  return true;
}

// An exception from a source must not end the program: it becomes a problem, and discovery is tried again later.
bool Runner::Core::try_pass(Worker &self, Pass what) {
  std::string why;
  try {
    return pass(self, what);
  } catch (const std::exception &e) {
    why = e.what();
  } catch (...) {
    why = "unknown";
  }
  const std::lock_guard lock(mutex);
  self.busy_with = kIdle;
  if (problem.empty()) problem = fmt::format("internal error: {}", why);
  retry_later(monotonic_now());
  return !self.left_behind;
}

void Runner::Core::note(std::string device, EventKind kind, std::string text) {
  if (events.size() >= kMaxEvents) events.erase(events.begin());
  events.push_back({.time = wall_now(), .device = std::move(device), .kind = kind, .text = std::move(text)});
}

bool Runner::Core::any_call_hangs() const {
  return std::any_of(entities.begin(), entities.end(), [](const auto &e) { return e->hung; });
}

bool Runner::Core::is_healthy() const {
  return problem.empty() &&
         std::none_of(entities.begin(), entities.end(), [](const auto &e) { return e->state == DeviceState::lost; });
}

// Discovery disturbs every device of the source, so each failure doubles the wait for the next one.
void Runner::Core::retry_later(Monotonic now) {
  retry_after =
      std::clamp(retry_after * 2, options.retry, std::max<std::chrono::nanoseconds>(options.retry, kLongestRetry));
  next_retry = now + retry_after;
}

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
  for (auto &cost : costs) {
    const auto fills = cost.info().fills;
    cost.focus(in_focus == nullptr || fills.empty() || in_focus->contains_any(fills));
    cost.update_tier(options.tick, entities.size());
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

void Runner::Core::adopt(Discovery found) {
  std::vector<std::shared_ptr<Entity>> now;
  for (std::size_t place = 0; place < found.entities.size(); ++place) {
    auto &one = found.entities[place];
    const auto known = std::find_if(entities.begin(), entities.end(), [&](const auto &e) {
      return (e->found.identity == nullptr && one.identity == nullptr) ||
             (e->found.identity != nullptr && one.identity != nullptr && e->found.identity->uuid == one.identity->uuid);
    });
    std::shared_ptr<Entity> entity;
    if (known != entities.end()) {
      entity = *known;
      entities.erase(known);
      entity->found = one;
      std::fill(entity->turns.begin(), entity->turns.end(), ReaderTurn{});
    } else {
      entity = std::make_shared<Entity>(one, initial_row(one.scope), costs.size());
      if (discovered && one.identity != nullptr) note(one.identity->uuid, EventKind::found, "found");
    }
    start_frame(*entity);
    entity->place = place;
    set_state(*entity, one.state);
    if (one.state != DeviceState::ok) {
      entity->published.fill(one.code != 0 ? Reading(Reason::error, one.code) : reason_for(one.state));
      entity->processes.clear();
    }
    now.push_back(std::move(entity));
  }
  // A whole device that has disappeared is lost; an instance was removed on purpose. A device that never gave a
  // reading, or whose bus address another one has now, was only known under a provisional name.
  const auto renamed = [&](const DeviceIdentity &identity) {
    return !identity.pci.empty() && std::any_of(now.begin(), now.end(), [&](const auto &e) {
      return e->found.identity != nullptr && e->found.identity->pci == identity.pci;
    });
  };
  for (auto &entity : entities) {
    const auto *identity = entity->found.identity.get();
    if (identity == nullptr || !identity->parent.empty() || !entity->has_readings || renamed(*identity)) continue;
    entity->place.reset();
    entity->published.fill(Reason::lost);
    entity->processes.clear();
    set_state(*entity, DeviceState::lost);
    now.push_back(std::move(entity));
  }
  entities = std::move(now);
  problem = std::move(found.problem);
  remedy = std::move(found.remedy);
  driver = std::move(found.driver);
  mistake = found.mistake;
  code = found.code;
  absent = found.absent;
  excluded = std::move(found.excluded);
  discovered = true;
}

bool Runner::Core::has_nothing_to_do(Monotonic now) {
  if (!discovered || !entities.empty() || (!is_healthy() && now >= next_retry)) return false;
  if (now < next_check) return true;
  // A driver that has answered before may hang now: only the worker may call it.
  if (!driver.empty()) return false;
  try {
    if (source->changed()) return false;
  } catch (...) {
    return false;  // the worker runs into it too, and reports it
  }
  next_check = now + options.check;
  return true;
}

// Runs discovery when it is due.
void Runner::Core::find_entities(Worker &self) {
  std::unique_lock lock(mutex);
  const auto now = monotonic_now();
  const bool failed = !is_healthy();
  // Healthy for as long as the last wait: the next failure starts with the shortest wait again.
  if (!failed && now - next_retry >= retry_after) retry_after = 0ns;
  // Discovery must not run at the same time as any other call of the source.
  if (any_call_hangs()) return;
  bool look = !discovered || (failed && now >= next_retry);
  const bool check = !look && now >= next_check;
  if (!look && !check) return;
  self.begin(kDiscovering, now);
  next_check = now + options.check;
  lock.unlock();
  if (check) look = source->changed();
  Discovery found;
  if (look) found = source->discover();
  lock.lock();
  self.busy_with = kIdle;
  discovery_hangs = false;
  if (!look) return;
  adopt(std::move(found));
  if (!is_healthy()) retry_later(monotonic_now());
}

void Runner::Core::note_outcome(Entity &entity, std::size_t reader, Outcome outcome, DeviceState &state) {
  switch (outcome) {
    case Outcome::ok:
    case Outcome::not_yet:
      return;
    case Outcome::lost:
      state = DeviceState::lost;
      return;
    case Outcome::asleep:
      state = DeviceState::asleep;
      return;
    case Outcome::gone: {
      // Discover again, but not before the retry time: a single odd answer need not mean that the session is over.
      const std::lock_guard lock(mutex);
      if (problem.empty()) {
        problem = "the driver went away";
        retry_later(monotonic_now());
      }
      return;
    }
    case Outcome::unsupported:
      break;
  }
  entity.turns[reader].refused = true;
  const auto infos = source->readers();
  for (const auto id : infos[reader].fills) {
    auto *reading = entity.frame.find(id);
    if (reading == nullptr || !reading->is(Reason::not_sampled)) continue;
    bool another = false;
    for (std::size_t i = 0; i < infos.size() && !another; ++i) {
      another = !entity.turns[i].refused &&
                std::find(infos[i].fills.begin(), infos[i].fills.end(), id) != infos[i].fills.end();
    }
    if (!another) *reading = Reason::not_supported;
  }
}

void Runner::Core::publish(Entity &entity, DeviceState state, Monotonic now) {
  std::vector<Process> listed;
  if (state == DeviceState::ok && process_table != nullptr) {
    listed.reserve(entity.frame.processes.size());
    for (const auto &use : entity.frame.processes) {
      Process process{.pid = use.pid,
                      .types = use.types,
                      .place = static_cast<std::uint32_t>(listed.size()),
                      .row = use.row,
                      .texts = nullptr};
      process_table->look_up(process, now, use.own_namespace, use.name);
      listed.push_back(std::move(process));
    }
  }
  const std::lock_guard lock(mutex);
  set_state(entity, state);
  if (state == DeviceState::ok) {
    entity.published = entity.frame.row;
    entity.cores = entity.frame.cores;
    if (entity.frame.details != nullptr) entity.details = std::make_shared<DeviceDetails>(*entity.frame.details);
    entity.has_readings = true;
  } else {
    entity.published.fill(reason_for(state));
    entity.cores.clear();
    entity.details.reset();
  }
  if (state == DeviceState::lost) retry_later(now);
  entity.processes = std::move(listed);
}

// False when this worker was left behind in a call that missed its deadline.
bool Runner::Core::read_entity(Worker &self, const std::shared_ptr<Entity> &entity, std::ptrdiff_t place, Pass what) {
  const auto infos = source->readers();
  const auto begun = monotonic_now();
  self.begin(place, begun);
  std::vector<std::size_t> due;
  due.reserve(infos.size());
  std::shared_ptr<const MetricSet> focus;
  {
    const std::lock_guard lock(mutex);
    focus = in_focus;
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (wanted_readers[i] && entity->turns[i].due(infos[i], costs[i].tier(), what, begun)) due.push_back(i);
    }
  }
  auto before = begun;
  auto state = DeviceState::ok;
  std::vector<std::pair<std::size_t, std::chrono::nanoseconds>> measured;
  measured.reserve(infos.size());
  for (const auto i : due) {
    self.call_started = before.time_since_epoch().count();
    auto &turn = entity->turns[i];
    const bool full = focus == nullptr || turn.is_full_due(begun);
    if (focus != nullptr) entity->frame.due = full ? nullptr : focus.get();
    const auto outcome = source->read(*entity->place, i, before, entity->frame);
    if (self.left_behind) break;
    const auto after = monotonic_now();
    measured.emplace_back(i, after - before);
    turn.note(outcome, full, begun);
    note_outcome(*entity, i, outcome, state);
    before = after;
    if (state != DeviceState::ok) break;
  }
  entity->frame.due = nullptr;
  if (!self.left_behind) publish(*entity, state, before);
  const std::lock_guard lock(mutex);
  self.busy_with = kIdle;
  if (self.left_behind) {
    entity->hung = false;
    return false;
  }
  for (const auto &[reader, cost] : measured) costs[reader].add(cost);
  call_time += before - begun;
  calls += measured.size();
  return true;
}

// Reads all entities. False when this worker was left behind in one of them.
bool Runner::Core::pass(Worker &self, Pass what) {
  find_entities(self);
  std::unique_lock lock(mutex);
  const auto all = entities;
  auto next = resume_from;
  if (next == 0) {
    call_time = 0ns;
    calls = 0;
  }
  lock.unlock();
  for (; next < all.size(); ++next) {
    const auto &entity = all[next];
    lock.lock();
    const bool readable = entity->place && !entity->hung &&
                          (entity->state == DeviceState::ok || entity->state == DeviceState::not_responding);
    lock.unlock();
    if (!readable) continue;
    if (!read_entity(self, entity, static_cast<std::ptrdiff_t>(next), what)) return false;
  }
  lock.lock();
  for (auto &cost : costs) cost.update_tier(options.tick, entities.size());
  for (auto &event : source->take_events()) {
    if (events.size() < kMaxEvents) events.push_back(std::move(event));
  }
  return true;
}

// Called with the mutex held. When the worker's call has missed its deadline, marks the entity as not responding and
// the worker as left behind; true when a new worker has to be started.
bool Runner::Core::set_aside(Monotonic now) {
  if (!working || prompt) return false;
  const auto busy = worker->busy_with.load();
  const auto started = Monotonic(Monotonic::duration(worker->call_started.load()));
  if (busy == kIdle) return false;
  if (busy == kDiscovering) {
    if (now - started > options.discover_deadline && !discovery_hangs) {
      discovery_hangs = true;
      discovery_hangs_since = started;
    }
    return false;
  }
  if (now - started <= options.call_deadline) return false;
  auto &entity = *entities[static_cast<std::size_t>(busy)];
  entity.hung = true;
  entity.published.fill(Reason::not_responding);
  entity.processes.clear();
  entity.cores.clear();
  set_state(entity, DeviceState::not_responding);
  entity.state_since = started;
  worker->left_behind = true;
  resume_from = static_cast<std::size_t>(busy) + 1;
  return true;
}

}  // namespace gpulse

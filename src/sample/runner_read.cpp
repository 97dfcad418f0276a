// SPDX-License-Identifier: Apache-2.0
// Reading one entity: which readers are due, and what their answers mean.
#include <algorithm>
#include <utility>

#include "model/derived.hpp"
#include "model/plausible.hpp"
#include "sample/runner_core.hpp"
#include "sample/state_words.hpp"

namespace gpulse {

void Runner::Core::note_outcome(Entity &entity, std::size_t reader, Outcome outcome, DeviceState &state) {
  switch (outcome) {
    case Outcome::ok:
    case Outcome::not_yet:
      break;
    case Outcome::lost:
      state = DeviceState::lost;
      break;
    case Outcome::asleep:
      state = DeviceState::asleep;
      break;
    case Outcome::unsupported:
      note_refusal(entity, reader);
      break;
    case Outcome::gone: {
      // Discover again, but not before the retry time: a single odd answer need not mean that the session is over.
      const std::lock_guard lock(mutex);
      if (!status.problem.empty()) break;
      change_status().problem = "the driver went away";
      retry_later(monotonic_now());
      break;
    }
  }
}

// What no other reader may still tell is not supported.
void Runner::Core::note_refusal(Entity &entity, std::size_t reader) const {
  entity.turns[reader].refused = true;
  const auto infos = source->readers();
  std::vector<bool> refused(infos.size());
  for (std::size_t i = 0; i < readers.size(); ++i) refused[readers[i].number] = entity.turns[i].refused;
  for (const auto id : readers[reader].cost.info().fills) {
    auto *reading = entity.frame.find(id);
    if (reading == nullptr || !reading->is(Reason::not_sampled)) continue;
    bool another = false;
    for (std::size_t i = 0; i < infos.size() && !another; ++i) {
      another = !refused[i] && std::find(infos[i].fills.begin(), infos[i].fills.end(), id) != infos[i].fills.end();
    }
    if (!another) *reading = Reason::not_supported;
  }
}

void Runner::Core::list_processes(Entity &entity, Monotonic now) const {
  auto &listed = entity.listed;
  listed.clear();
  listed.reserve(entity.frame.processes.size());
  for (const auto &use : entity.frame.processes) {
    // It was found in files that only its owner may read.
    if (options.for_everybody && use.own_namespace) continue;
    Process process{.pid = use.pid,
                    .device = {},
                    .types = use.types,
                    .place = static_cast<std::uint32_t>(listed.size()),
                    .row = use.row,
                    .texts = nullptr};
    process_table->look_up(process, now, use.own_namespace, use.name);
    keep_plausible(process.row);
    listed.push_back(std::move(process));
  }
}

// What there is beside the row.
void Runner::Core::keep_parts(Entity &entity) {
  entity.processes = std::exchange(entity.listed, {});
  entity.cores = entity.frame.cores;
  for (auto &core : entity.cores) keep_plausible(core.row);
  if (entity.frame.details == nullptr) return;
  auto details = std::make_shared<DeviceDetails>(*entity.frame.details);
  keep_plausible(*details);
  entity.details = std::move(details);
}

[[gnu::hot]] void Runner::Core::read_entity(Worker &self, Pass what) {
  const auto begun = monotonic_now();
  self.begin_call(begun);
  Lock lock(mutex);
  auto &entity = *self.entity;
  if (entity.focus != in_focus) entity.focus = in_focus;
  const bool check = checking;
  entity.calls.clear();
  for (std::size_t i = 0; i < readers.size(); ++i) {
    const auto &cost = readers[i].cost;
    if (entity.turns[i].due(cost.info(), cost.tier(), what, begun)) entity.calls.push_back({.reader = i});
  }
  lock.unlock();
  const auto place = *entity.place;
  const bool changed = check && source->has_changed(place);
  if (self.left_behind) return;
  const auto *const focus = entity.focus.get();
  auto before = begun;
  auto state = DeviceState::ok;
  std::size_t made = 0;
  std::size_t gone = 0;
  for (auto &call : entity.calls) {
    self.begin_call(before);
    auto &turn = entity.turns[call.reader];
    const auto &[number, cost] = readers[call.reader];
    const bool full = focus == nullptr || turn.is_full_due(options.rest, begun);
    entity.frame.due = full ? nullptr : focus;
    const auto outcome = source->read(place, number, before, entity.frame);
    entity.frame.due = nullptr;
    if (self.left_behind) return;
    const auto after = monotonic_now();
    keep_plausible(entity.frame.row, cost.info().fills);
    call.took = after - before;
    before = after;
    ++made;
    turn.note(outcome, full, begun);
    if (outcome == Outcome::ok) continue;
    note_outcome(entity, call.reader, outcome, state);
    if (outcome == Outcome::gone) ++gone;
    if (state != DeviceState::ok) break;
  }
  // Most readers say so; those that answer all the same need no driver. It is read again: this may pass.
  const bool no_driver = 2 * gone > made;
  if (no_driver) state = DeviceState::lost;
  const auto &frame = entity.frame;
  const bool has_parts = !frame.processes.empty() || !frame.cores.empty() || frame.details != nullptr;
  if (has_parts && state == DeviceState::ok && process_table != nullptr) list_processes(entity, before);
  lock.lock();
  if (state != entity.state) set_state(entity, state);
  if (state == DeviceState::ok) {
    entity.row = frame.row;
    derive(entity.row, options.only ? &*options.only : nullptr);
    entity.has_row = entity.has_readings = true;
    if (has_parts || !entity.processes.empty() || !entity.cores.empty()) keep_parts(entity);
  } else {
    entity.withdraw(reason_of(state));
  }
  if (state == DeviceState::lost) retry_later(before);
  entity.fresh = true;
  entity.without_driver = no_driver;
  look_again = look_again || changed;
  for (std::size_t i = 0; i < made; ++i) readers[entity.calls[i].reader].cost.add(entity.calls[i].took);
  if (self.pass != passes) return;
  call_time += before - begun;
  calls += made;
}

}  // namespace gpulse

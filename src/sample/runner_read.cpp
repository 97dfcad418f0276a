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
      if (status.problem.empty()) {
        status.problem = "the driver went away";
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
  const std::lock_guard lock(mutex);
  set_state(entity, state);
  if (state == DeviceState::ok) {
    entity.row = entity.frame.row;
    derive(*entity.row, options.only ? &*options.only : nullptr);
    entity.cores = entity.frame.cores;
    for (auto &core : entity.cores) keep_plausible(core.row);
    if (entity.frame.details != nullptr) {
      auto details = std::make_shared<DeviceDetails>(*entity.frame.details);
      keep_plausible(*details);
      entity.details = std::move(details);
    }
    entity.has_readings = true;
    entity.processes = std::move(listed);
  } else {
    entity.withdraw(reason_of(state));
  }
  if (state == DeviceState::lost) retry_later(now);
  entity.fresh = true;
}

void Runner::Core::read_entity(Worker &self, Pass what) {
  const auto infos = source->readers();
  const auto begun = monotonic_now();
  self.begin_call(begun);
  std::vector<std::size_t> due;
  due.reserve(wanted_readers.size());
  std::shared_ptr<const MetricSet> focus;
  EntityPtr entity;
  bool check = false;
  {
    const std::lock_guard lock(mutex);
    entity = self.entity;
    focus = in_focus;
    check = checking;
    for (const auto i : wanted_readers) {
      if (entity->turns[i].due(infos[i], costs[i].tier(), what, begun)) due.push_back(i);
    }
  }
  const bool changed = check && source->has_changed(*entity->place);
  if (self.left_behind) return;
  auto before = begun;
  auto state = DeviceState::ok;
  std::size_t gone = 0;
  std::vector<std::pair<std::size_t, std::chrono::nanoseconds>> measured;
  measured.reserve(due.size());
  for (const auto i : due) {
    self.begin_call(before);
    auto &turn = entity->turns[i];
    const bool full = focus == nullptr || turn.is_full_due(options.rest, begun);
    if (focus != nullptr) entity->frame.due = full ? nullptr : focus.get();
    const auto outcome = source->read(*entity->place, i, before, entity->frame);
    if (self.left_behind) {
      entity->frame.due = nullptr;
      return;
    }
    const auto after = monotonic_now();
    keep_plausible(entity->frame.row, infos[i].fills);
    measured.emplace_back(i, after - before);
    turn.note(outcome, full, begun);
    note_outcome(*entity, i, outcome, state);
    if (outcome == Outcome::gone) ++gone;
    before = after;
    if (state != DeviceState::ok) break;
  }
  entity->frame.due = nullptr;
  // Most readers say so; those that answer all the same need no driver. It is read again: this may pass.
  const bool no_driver = 2 * gone > measured.size();
  if (no_driver) state = DeviceState::lost;
  publish(*entity, state, before);
  const std::lock_guard lock(mutex);
  entity->without_driver = no_driver;
  look_again = look_again || changed;
  for (const auto &[reader, cost] : measured) costs[reader].add(cost);
  if (self.pass != passes) return;
  call_time += before - begun;
  calls += measured.size();
}

}  // namespace gpulse

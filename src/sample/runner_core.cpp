// SPDX-License-Identifier: Apache-2.0
// Passes and their stages, workers and their deadlines.
#include "sample/runner_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpulse {

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestRetry = 60s;
// How long the absence of the kernel's events is believed: a container's files may be no kernel's own.
constexpr auto kLongestTrust = 60s;
constexpr std::size_t kMaxEvents = 256;
// A call that takes longer than this no longer holds back the other entities: they get workers of their own.
constexpr std::chrono::nanoseconds kPatience = 50ms;
// Attaching all GPUs of a machine without persistence mode may take this long.
constexpr auto kLongestStart = 20s;

// What the exception that is being handled says.
[[gnu::cold]] std::string exception_words() {
  try {
    throw;
  } catch (const std::exception &e) {
    return e.what();
  } catch (...) {
    return "unknown";
  }
}

}  // namespace

void Runner::Core::work(const std::shared_ptr<Worker> &self) {
  const auto is_spare = [&] {
    return std::any_of(workers.begin(), workers.end(), [&](const auto &other) {
      return other != self && !other->borrowed && other->step == Step::idle;
    });
  };
  Lock lock(mutex);
  while (!stopping && (has_task() || !is_spare())) {
    asked.wait(lock, [&] { return stopping || has_task(); });
    if (!stopping && !serve(*self, lock)) return;
  }
  std::erase(workers, self);
  if (!stopping) return;
  // Closing a source calls the driver too, and may hang like any other call. While another call of it hangs, the last
  // thread to return closes it.
  std::shared_ptr<Source> closing;
  if (workers.empty() && !any_call_hangs()) closing = std::move(source);
  workers.push_back(self);
  lock.unlock();
  closing.reset();
  lock.lock();
  std::erase(workers, self);
  done.notify_all();
}

[[gnu::hot]] std::shared_ptr<Runner::Core::Worker> Runner::Core::borrow_worker() {
  if (spare == nullptr) {
    spare = std::make_shared<Worker>();
    spare->borrowed = true;
  }
  workers.push_back(std::move(spare));
  return workers.back();
}

[[gnu::hot]] bool Runner::Core::give_back(const Worker &worker) {
  for (auto &one : workers) {
    if (one.get() != &worker) continue;
    if (!worker.replaced) spare = std::move(one);
    one = std::move(workers.back());
    workers.pop_back();
    return !worker.replaced;
  }
  return false;
}

// Does what there is to do in the pass. False when this worker was left behind in it.
[[gnu::hot]] bool Runner::Core::serve(Worker &self, Lock &lock) {
  while (has_task()) {
    switch (stage) {
      case Stage::discover:
        find_entities(self, lock);
        break;
      case Stage::read:
        if (!read_next(self, lock)) return false;
        break;
      case Stage::complete:
        if (!complete_next(self, lock)) return false;
        break;
      case Stage::none:
        break;
    }
    if (self.replaced) return false;
  }
  if (stage != Stage::none || self.borrowed) return true;
  // Unlock first, so that the woken thread does not block on the mutex.
  lock.unlock();
  done.notify_all();
  lock.lock();
  return true;
}

[[gnu::hot]] void Runner::Core::begin_pass(Pass pass, Monotonic now) {
  reported = false;
  ++passes;
  requested = pass;
  pass_begun = now;
  stage = Stage::discover;
  open = 0;
  call_time = 0ns;
  calls = 0;
}

[[gnu::hot]] bool Runner::Core::has_task() const {
  switch (stage) {
    case Stage::discover:
      for (const auto &worker : workers) {
        if (worker->step == Step::discovering) return false;
      }
      return true;
    case Stage::read:
    case Stage::complete:
      return next < entities.size();
    case Stage::none:
      break;
  }
  return false;
}

// Goes on to the next stage when this one has nothing left to do.
[[gnu::hot]] void Runner::Core::advance() {
  if (stage == Stage::discover || stage == Stage::none || next < entities.size() || open > 0) return;
  if (stage == Stage::read) {
    if (unsettled && !is_identifying()) settle_all();
    if (incomplete) {
      incomplete = false;
      stage = Stage::complete;
      next = 0;
      return;
    }
  }
  stage = Stage::none;
  for (auto &reader : readers) reader.cost.update_tier(tick, entities.size());
  if (auto more = source->take_events(); !more.empty()) add_events(std::move(more));
}

void Runner::Core::add_events(std::vector<Event> more) {
  for (auto &event : more) {
    if (events.size() < kMaxEvents) events.push_back(std::move(event));
  }
}

void Runner::Core::settle_all() {
  unsettled = false;
  retire_former();
  source->start_listening();
  if (!is_healthy()) retry_later(monotonic_now());
}

// What concerns a single device changes seldom, and is dear to ask for: every so many checks.
constexpr int kPartChecks = 4;

// Runs discovery when it is due.
[[gnu::hot]] void Runner::Core::find_entities(Worker &self, Lock &lock) {
  stage = Stage::read;
  next = 0;
  const auto now = monotonic_now();
  const bool failed = !is_healthy();
  // Healthy for as long as the last wait: the next failure starts with the shortest wait again.
  if (!failed && now - next_retry >= retry_after) retry_after = 0ns;
  const bool look = discoveries == 0 || look_again || (failed && now >= next_retry);
  const bool check = !look && now >= next_check;
  // Discovery must not run at the same time as any other call of the source; until then, nobody need ask for changes.
  const bool free = (look || check) && !any_call_hangs();
  checking = check && free && now >= next_part_check;
  if (checking) next_part_check = now + kPartChecks * options.check;
  if (free) discover(self, lock, now, look);
  advance();
}

// `look`: whether something has changed or not.
void Runner::Core::discover(Worker &self, Lock &lock, Monotonic now, bool look) {
  next_check = now + options.check;
  // Also where it does not matter now: only what comes after this look is worth another one.
  const bool any_event = may_have_come_or_gone(now);
  stage = Stage::discover;
  self.step = Step::discovering;
  self.begin_call(now);
  lock.unlock();
  bool ready = true;
  std::optional<Discovery> found;
  try {
    if (!look) look = any_event ? source->changed() : source->changed_without_event();
    if (look) ready = source->is_ready_to_discover();
    if (look && ready) found = source->discover();
  } catch (...) {
    note_failure();
  }
  lock.lock();
  self.step = Step::idle;
  discovery_hangs = false;
  stage = Stage::read;
  next = 0;
  look_again = !ready;
  if (found) adopt(std::move(*found));
}

// Does one thing for the worker's entity, outside the lock. False when the worker was left behind in it.
template <class Work>
bool Runner::Core::attend(Worker &self, Step step, Lock &lock, Work work) {
  const auto begun = monotonic_now();
  self.step = step;
  self.pass = passes;
  self.begin_call(begun);
  if (step == Step::completing) {
    self.entity->completing = true;
  } else {
    self.entity->busy = true;
    self.entity->busy_since = begun;
  }
  ++open;
  lock.unlock();
  try {
    work();
  } catch (...) {
    note_failure();
  }
  lock.lock();
  // Not always the one that it was called for: identifying it may have shown that it is known.
  if (step == Step::completing) {
    self.entity->completing = false;
  } else {
    self.entity->busy = self.entity->hung = false;
  }
  self.entity.reset();
  self.step = Step::idle;
  if (self.left_behind) return false;
  if (self.pass == passes) --open;
  advance();
  return true;
}

[[gnu::hot]] bool Runner::Core::read_next(Worker &self, Lock &lock) {
  const auto &entity = entities[next++];
  if (entity->busy || !is_in_service(*entity)) {
    advance();
    return true;
  }
  self.entity = entity;
  const bool identified = entity->found.identified;
  const auto place = *entity->place;
  const auto what = requested;
  return attend(self, identified ? Step::reading : Step::identifying, lock, [&] {
    if (identified || identify(self, place)) read_entity(self, what);
  });
}

bool Runner::Core::complete_next(Worker &self, Lock &lock) {
  const auto entity = entities[next++];
  if (!entity->place || entity->complete || !entity->found.identified || entity->state != DeviceState::ok) {
    advance();
    return true;
  }
  entity->complete = true;
  self.entity = entity;
  return attend(self, Step::completing, lock, [&] {
    auto identity = source->complete(*entity->place);
    const std::lock_guard relock(mutex);
    if (identity != nullptr) entity->found.identity = std::move(identity);
  });
}

// Looks after the deadlines. Returns how many workers have to be started.
std::size_t Runner::Core::supervise(Monotonic now) {
  if (prompt) return 0;
  const auto late = [&](const Worker &worker) {
    auto since = worker.started();
    // Where GPUs are attached one after the other, all wait for the driver: as long as it makes progress, none hangs.
    if (worker.step == Step::identifying)
      since = std::max(since, std::min(last_identified, pass_begun + kLongestStart));
    return now - since > options.call_deadline;
  };
  const auto patience = std::min(kPatience, options.call_deadline / 4);
  std::size_t held = 0;
  for (std::size_t i = 0; i < workers.size();) {
    auto &worker = *workers[i];
    if (worker.step == Step::discovering) {
      if (now - worker.started() > options.discover_deadline && !discovery_hangs) {
        discovery_hangs = true;
        discovery_hangs_since = worker.started();
      }
    } else if (worker.step != Step::idle) {
      if (late(worker)) {
        set_aside(worker);
        workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      if (now - worker.started() > patience) ++held;
    }
    ++i;
  }
  const auto before = stage;
  advance();
  if (stage != before) asked.notify_all();
  if (workers.empty()) return 1;
  if (!has_task() || held < workers.size() || stage == Stage::discover) return 0;
  return std::min(held, entities.size() - next);
}

// The worker's call has missed its deadline: marks its entity as not responding and the worker as left behind.
void Runner::Core::set_aside(Worker &worker) {
  worker.left_behind = true;
  if (worker.pass == passes) --open;
  // Its readings have nothing to do with the others.
  if (worker.step == Step::completing) return;
  if (worker.step == Step::identifying) {
    if (const auto known = take_former(worker.entity->found)) {
      known->place = worker.entity->place;
      known->found.identified = false;
      known->busy = true;
      replace(worker.entity, known);
      worker.entity = known;
    }
  }
  auto &entity = *worker.entity;
  entity.hung = true;
  entity.withdraw(Reason::not_responding);
  set_state(entity, DeviceState::not_responding);
  entity.state_since = worker.started();
}

// Time in which this program did not run, because it was stopped, does not count against the driver.
void Runner::Core::forgive(std::chrono::nanoseconds gap) {
  for (const auto &worker : workers) worker->call_started += gap.count();
}

// Whether waiting longer is worthwhile: the driver makes progress with attaching its devices.
bool Runner::Core::is_under_way(Monotonic now) const {
  return now - last_identified < options.call_deadline && now - pass_begun < kLongestStart &&
         std::any_of(workers.begin(), workers.end(), [](const auto &w) { return w->step == Step::identifying; });
}

[[gnu::hot]] bool Runner::Core::is_in_service(const Entity &entity) {
  return entity.place &&
         (entity.state == DeviceState::ok || entity.state == DeviceState::not_responding || entity.without_driver);
}

bool Runner::Core::is_identifying() const {
  return std::any_of(entities.begin(), entities.end(),
                     [](const auto &e) { return e->busy && !e->hung && !e->found.identified; });
}

[[gnu::hot]] bool Runner::Core::any_call_hangs() const {
  for (const auto *list : {&entities, &former}) {
    for (const auto &entity : *list) {
      if (entity->busy || entity->completing) return true;
    }
  }
  return false;
}

[[gnu::hot]] bool Runner::Core::is_healthy() const {
  if (!status.problem.empty()) return false;
  for (const auto &entity : entities) {
    if (entity->state == DeviceState::lost) return false;
  }
  return true;
}

[[gnu::hot]] bool Runner::Core::has_nothing_to_do(Monotonic now) {
  if (discoveries == 0 || look_again || !entities.empty() || (!is_healthy() && now >= next_retry)) return false;
  if (now < next_check) return true;
  // A driver that has answered before may hang now: only a worker may call it.
  if (!status.driver.empty()) return false;
  try {
    if (may_have_come_or_gone(now) && source->changed()) {
      look_again = true;
      return false;
    }
  } catch (...) {
    return false;  // a worker runs into it too, and reports it
  }
  next_check = now + options.check;
  return true;
}

bool Runner::Core::may_have_come_or_gone(Monotonic now) {
  const auto count = device_events != nullptr ? device_events->count(now) : std::nullopt;
  const bool quiet = count && count == events_seen && now < next_look;
  if (!quiet) next_look = now + kLongestTrust;
  events_seen = count;
  return !quiet;
}

Monotonic Runner::Core::rests_until() const {
  // Once what there is to tell has been reported.
  if (!events.empty() || !reported) return Monotonic::min();
  return is_healthy() ? next_check : std::min(next_check, next_retry);
}

SourceStatus &Runner::Core::change_status() {
  status_changed = true;
  return status;
}

// Discovery disturbs every device of the source, so each failure doubles the wait for the next one.
void Runner::Core::retry_later(Monotonic now) {
  if (now < next_retry) return;
  retry_after =
      std::clamp(retry_after * 2, options.retry, std::max<std::chrono::nanoseconds>(options.retry, kLongestRetry));
  next_retry = now + retry_after;
}

// An exception from a source must not end the program: it becomes a problem, and discovery is tried again later. Called
// where it is handled, without the mutex.
void Runner::Core::note_failure() {
  const std::lock_guard lock(mutex);
  if (status.problem.empty()) change_status().problem = fmt::format("internal error: {}", exception_words());
  retry_later(monotonic_now());
}

void Runner::Core::note(std::string device, EventKind kind, std::string text) {
  if (events.size() >= kMaxEvents) events.erase(events.begin());
  events.push_back({.time = wall_now(), .device = std::move(device), .kind = kind, .text = std::move(text)});
}

}  // namespace gpulse

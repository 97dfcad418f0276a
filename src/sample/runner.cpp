// SPDX-License-Identifier: Apache-2.0
#include "sample/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <thread>
#include <utility>

namespace gpulse {

namespace {

using namespace std::chrono_literals;

constexpr std::ptrdiff_t kNobody = -2;       // the worker is idle
constexpr std::ptrdiff_t kDiscovering = -1;  // it looks for entities
constexpr auto kLongestRetry = 60s;
constexpr std::size_t kMostEvents = 256;

// One entity: what the worker keeps (frame, turns) and what others may see (the rest, under the lock).
struct Entity {
  Entity(Found f, const Row &first, std::size_t readers)
      : found(std::move(f)), initial(first), frame{first, {}}, turns(readers), seen(first) {}

  Found found;
  Row initial;
  Frame frame;
  std::vector<ReaderTurn> turns;
  std::optional<std::size_t> place;  // in the source's list; none: it is not there any more

  Row seen;
  std::vector<Process> processes;
  DeviceState state = DeviceState::ok;
  Monotonic state_since{};
  bool hung = false;
  Monotonic hung_since{};
};

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

}  // namespace

struct Runner::Core : std::enable_shared_from_this<Runner::Core> {
  Core(std::shared_ptr<Source> s, std::shared_ptr<host::ProcessTable> p, const RunnerOptions &o)
      : source(std::move(s)), process_table(std::move(p)), options(o) {
    for (const auto &info : source->readers()) costs.emplace_back(info);
  }

  void work(std::uint64_t epoch);
  bool pass(std::uint64_t epoch, Pass what);
  bool find_entities(std::uint64_t epoch);
  bool read_entity(std::uint64_t epoch, std::shared_ptr<Entity> entity, std::ptrdiff_t number, Pass what);
  void adopt(Discovery found);
  void note_outcome(Entity &entity, std::size_t reader, Outcome outcome, bool &lost);
  void publish(Entity &entity, bool lost, Monotonic now);
  void set_state(Entity &entity, DeviceState state);
  bool set_aside(Monotonic now);
  Row initial_row(Scope scope) const;
  bool someone_hangs() const;
  void note(std::string device, std::string kind, std::string words);

  const std::shared_ptr<Source> source;
  const std::shared_ptr<host::ProcessTable> process_table;
  const RunnerOptions options;

  std::mutex mutex;
  std::condition_variable asked, done;
  bool stopping = false;
  bool ended = false;       // the worker that counts has left
  std::uint64_t epoch = 0;  // of the worker that counts; one with another number has been left behind
  bool working = false;
  Pass wanted = Pass::scheduled;
  std::vector<std::shared_ptr<Entity>> entities;
  std::vector<Event> events;
  std::string problem = "not looked for yet";
  std::string remedy;
  bool discovered = false;
  bool discovery_hangs = false;
  Monotonic discovery_hangs_since{};
  std::chrono::nanoseconds retry_after{0};
  Monotonic next_retry{};
  Monotonic next_check{};
  std::chrono::nanoseconds call_time{0};
  std::uint64_t calls = 0;
  std::size_t resume_from = 0;  // where a replacement worker goes on in the pass
  std::vector<ReaderCost> costs;

  // What the worker does at this moment, for whoever watches the clock.
  std::atomic<std::int64_t> call_started{0};
  std::atomic<std::ptrdiff_t> busy_with{kNobody};
};

void Runner::Core::work(std::uint64_t number) {
  std::unique_lock lock(mutex);
  for (;;) {
    asked.wait(lock, [&] { return stopping || epoch != number || working; });
    if (stopping || epoch != number) break;
    const auto what = wanted;
    lock.unlock();
    const bool still_mine = pass(number, what);
    lock.lock();
    if (!still_mine) return;
    working = false;
    resume_from = 0;
    done.notify_all();
  }
  if (epoch == number) {
    ended = true;
    done.notify_all();
  }
}

void Runner::Core::note(std::string device, std::string kind, std::string words) {
  if (events.size() >= kMostEvents) events.erase(events.begin());
  events.push_back(
      {.time = wall_now(), .device = std::move(device), .kind = std::move(kind), .text = std::move(words)});
}

bool Runner::Core::someone_hangs() const {
  return std::any_of(entities.begin(), entities.end(), [](const auto &e) { return e->hung; });
}

// A metric that no reader of this source fills is not supported, by construction.
Row Runner::Core::initial_row(Scope scope) const {
  Row row(scope, Reason::not_supported);
  for (const auto &info : source->readers()) {
    for (const auto id : info.fills) {
      if (describe(id).scope == scope) row[id] = Reason::not_sampled;
    }
  }
  return row;
}

void Runner::Core::set_state(Entity &entity, DeviceState state) {
  if (entity.state == state) return;
  const auto before = entity.state;
  entity.state = state;
  entity.state_since = monotonic_now();
  if (entity.found.identity == nullptr) return;
  const auto &uuid = entity.found.identity->uuid;
  if (state == DeviceState::ok)
    note(uuid, "back", fmt::format("no longer {}", word(before)));
  else
    note(uuid, std::string(word(state)), std::string(word(state)));
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
      entity->frame = {entity->initial, {}};
      std::fill(entity->turns.begin(), entity->turns.end(), ReaderTurn{});
    } else {
      entity = std::make_shared<Entity>(one, initial_row(one.scope), costs.size());
      if (discovered && one.identity != nullptr) note(one.identity->uuid, "found", "found");
    }
    entity->place = place;
    set_state(*entity, one.state);
    if (one.state != DeviceState::ok) {
      entity->seen.fill(reason_for(one.state));
      entity->processes.clear();
    }
    now.push_back(std::move(entity));
  }
  // A whole device that was there is lost; an instance that was there was taken apart on purpose.
  for (auto &entity : entities) {
    if (entity->found.identity == nullptr || !entity->found.identity->parent.empty()) continue;
    entity->place.reset();
    entity->seen.fill(Reason::lost);
    entity->processes.clear();
    set_state(*entity, DeviceState::lost);
    now.push_back(std::move(entity));
  }
  entities = std::move(now);
  problem = std::move(found.problem);
  remedy = std::move(found.remedy);
  discovered = true;
}

// Looks for entities when that is due. False when this worker was left behind meanwhile.
bool Runner::Core::find_entities(std::uint64_t number) {
  std::unique_lock lock(mutex);
  const auto now = monotonic_now();
  const bool first = !discovered;
  const bool failed = !problem.empty() || std::any_of(entities.begin(), entities.end(),
                                                      [](const auto &e) { return e->state == DeviceState::lost; });
  // Nothing of the source may run elsewhere while it looks anew.
  if (someone_hangs()) return true;
  bool look = first || (failed && now >= next_retry);
  const bool check = !look && now >= next_check;
  if (!look && !check) return true;
  busy_with = kDiscovering;
  call_started = now.time_since_epoch().count();
  next_check = now + options.check;
  lock.unlock();
  if (check) look = source->changed();
  Discovery found;
  if (look) found = source->discover();
  lock.lock();
  busy_with = kNobody;
  discovery_hangs = false;
  if (epoch != number) return false;
  if (!look) return true;
  adopt(std::move(found));
  const bool well = problem.empty() && std::none_of(entities.begin(), entities.end(),
                                                    [](const auto &e) { return e->state == DeviceState::lost; });
  retry_after = well ? 0ns
                     : std::clamp(retry_after * 2, options.retry,
                                  std::max<std::chrono::nanoseconds>(options.retry, kLongestRetry));
  next_retry = monotonic_now() + retry_after;
  return true;
}

void Runner::Core::note_outcome(Entity &entity, std::size_t reader, Outcome outcome, bool &lost) {
  switch (outcome) {
    case Outcome::ok:
      return;
    case Outcome::lost:
      lost = true;
      return;
    case Outcome::gone: {
      // Look for the driver again, but no sooner than the retry time: one odd answer is not the end of the session.
      const std::lock_guard lock(mutex);
      if (problem.empty()) {
        problem = "the driver went away";
        next_retry = monotonic_now() + std::max(retry_after, options.retry);
      }
      return;
    }
    case Outcome::unsupported:
      break;
  }
  entity.turns[reader].refused = true;
  const auto infos = source->readers();
  for (const auto id : infos[reader].fills) {
    auto &reading = entity.frame.row[id];
    if (!reading.is(Reason::not_sampled)) continue;
    bool another = false;
    for (std::size_t i = 0; i < infos.size() && !another; ++i) {
      another = !entity.turns[i].refused &&
                std::find(infos[i].fills.begin(), infos[i].fills.end(), id) != infos[i].fills.end();
    }
    if (!another) reading = Reason::not_supported;
  }
}

void Runner::Core::publish(Entity &entity, bool lost, Monotonic now) {
  std::vector<Process> listed;
  if (!lost && process_table != nullptr) {
    listed.reserve(entity.frame.processes.size());
    for (const auto &use : entity.frame.processes) {
      Process process{.pid = use.pid, .types = use.types, .row = use.row, .texts = nullptr};
      process_table->look_up(process, now);
      listed.push_back(std::move(process));
    }
  }
  const std::lock_guard lock(mutex);
  if (lost) {
    set_state(entity, DeviceState::lost);
    entity.seen.fill(Reason::lost);
    retry_after = options.retry;
    next_retry = now + retry_after;
  } else {
    set_state(entity, DeviceState::ok);
    entity.seen = entity.frame.row;
  }
  entity.processes = std::move(listed);
}

// False when this worker was left behind in a call that took too long.
bool Runner::Core::read_entity(std::uint64_t number, std::shared_ptr<Entity> entity, std::ptrdiff_t place, Pass what) {
  const auto infos = source->readers();
  const auto begun = monotonic_now();
  busy_with = place;
  auto before = begun;
  bool lost = false;
  std::vector<std::pair<std::size_t, std::chrono::nanoseconds>> measured;
  measured.reserve(infos.size());
  for (std::size_t i = 0; i < infos.size() && !lost; ++i) {
    auto &turn = entity->turns[i];
    if (!turn.due(infos[i], costs[i].tier(), what, begun)) continue;
    call_started.store(before.time_since_epoch().count(), std::memory_order_relaxed);
    const auto outcome = source->read(*entity->place, i, before, entity->frame);
    const auto after = monotonic_now();
    if (after - before > options.call_deadline) {
      const std::lock_guard lock(mutex);
      if (epoch != number) {
        entity->hung = false;
        return false;
      }
    }
    measured.emplace_back(i, after - before);
    turn.last = begun;
    turn.read_once = true;
    note_outcome(*entity, i, outcome, lost);
    before = after;
  }
  publish(*entity, lost, before);
  const std::lock_guard lock(mutex);
  busy_with = kNobody;
  if (epoch != number) {
    entity->hung = false;
    return false;
  }
  for (const auto &[reader, cost] : measured) costs[reader].add(cost);
  call_time += before - begun;
  calls += measured.size();
  return true;
}

// One pass over all entities. False when this worker was left behind on the way.
bool Runner::Core::pass(std::uint64_t number, Pass what) {
  if (!find_entities(number)) return false;
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
    if (!read_entity(number, entity, static_cast<std::ptrdiff_t>(next), what)) return false;
  }
  lock.lock();
  for (auto &cost : costs) cost.settle(options.tick);
  for (auto &event : source->take_events()) {
    if (events.size() < kMostEvents) events.push_back(std::move(event));
  }
  return true;
}

// Called with the lock held: a call past its deadline costs its entity its place, and the worker its job. True when a
// new worker is wanted.
bool Runner::Core::set_aside(Monotonic now) {
  if (!working) return false;
  const auto started = Monotonic(Monotonic::duration(call_started.load()));
  const auto busy = busy_with.load();
  if (busy == kNobody) return false;
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
  entity.hung_since = started;
  entity.seen.fill(Reason::not_responding);
  entity.processes.clear();
  set_state(entity, DeviceState::not_responding);
  entity.state_since = started;
  ++epoch;
  busy_with = kNobody;
  resume_from = static_cast<std::size_t>(busy) + 1;
  return true;
}

Runner::Runner(std::shared_ptr<Source> source, std::shared_ptr<host::ProcessTable> processes,
               const RunnerOptions &options)
    : core_(std::make_shared<Core>(std::move(source), std::move(processes), options)) {
  start_worker();
}

Runner::~Runner() {
  std::unique_lock lock(core_->mutex);
  core_->stopping = true;
  core_->asked.notify_all();
  const bool left = core_->done.wait_for(lock, 200ms, [&] { return core_->ended; });
  lock.unlock();
  // A worker inside a hung driver is left behind; it keeps what it needs alive by itself.
  left ? worker_.join() : worker_.detach();
}

void Runner::start_worker() {
  if (worker_.joinable()) worker_.detach();
  worker_ = std::thread([core = core_, number = core_->epoch] { core->work(number); });
}

void Runner::ask(Pass pass) {
  const std::lock_guard lock(core_->mutex);
  if (core_->working) return;
  core_->working = true;
  core_->wanted = pass;
  core_->asked.notify_all();
}

bool Runner::wait(Monotonic until) {
  std::unique_lock lock(core_->mutex);
  while (core_->working) {
    const auto now = monotonic_now();
    if (core_->set_aside(now)) start_worker();
    if (now >= until || core_->discovery_hangs) return false;
    // Wake often enough to notice a missed deadline soon.
    core_->done.wait_until(
        lock, std::min(until, now + std::min<std::chrono::nanoseconds>(core_->options.call_deadline / 4, 50ms)));
  }
  return true;
}

SourceReport Runner::report() {
  const std::lock_guard lock(core_->mutex);
  const auto now = monotonic_now();
  if (core_->set_aside(now)) start_worker();
  SourceReport report;
  report.status = {.name = std::string(core_->source->name()), .problem = core_->problem, .remedy = core_->remedy};
  if (core_->discovery_hangs) {
    report.status.problem = fmt::format("{} driver not responding for {:.0f} s", core_->source->name(),
                                        Seconds(now - core_->discovery_hangs_since).count());
    report.status.remedy = "see the kernel log";
  }
  report.entities.reserve(core_->entities.size());
  for (const auto &entity : core_->entities) {
    SourceReport::Entity one{.found = entity->found, .row = entity->seen, .processes = entity->processes};
    one.found.state = entity->state;
    if (entity->state != DeviceState::ok) one.state_for = now - entity->state_since;
    if (core_->discovery_hangs) {
      one.found.state = DeviceState::not_responding;
      one.state_for = now - core_->discovery_hangs_since;
      one.row.fill(Reason::not_responding);
      one.processes.clear();
    }
    if (one.found.scope == Scope::device) ++report.status.devices;
    report.entities.push_back(std::move(one));
  }
  report.events = std::exchange(core_->events, {});
  report.call_time = core_->call_time;
  report.calls = core_->calls;
  report.slowed = static_cast<std::uint32_t>(
      std::count_if(core_->costs.begin(), core_->costs.end(), [](const ReaderCost &c) { return c.slowed(); }));
  return report;
}

std::vector<CostReport> Runner::costs() const {
  const std::lock_guard lock(core_->mutex);
  std::vector<CostReport> all;
  for (const auto &cost : core_->costs) {
    all.push_back({.source = std::string(core_->source->name()),
                   .call = std::string(cost.info().call),
                   .tier = cost.tier(),
                   .slowed = cost.slowed(),
                   .mean = cost.mean(),
                   .calls = cost.calls()});
  }
  return all;
}

}  // namespace gpulse

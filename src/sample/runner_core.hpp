// SPDX-License-Identifier: Apache-2.0
// The state of a Runner, shared by its worker threads and its callers, and kept alive by all of them.
//
// A pass goes through stages: look for entities when that is due, then identify and read each, then complete those that
// are new. Workers take entities one by one. Whatever is not atomic is guarded by the mutex.
#pragma once

#include <atomic>
#include <condition_variable>

#include "sample/runner.hpp"

namespace gpulse {

struct Runner::Core {
  // One call of a reader, and how long it took.
  struct Call {
    std::size_t reader = 0;
    std::chrono::nanoseconds took{0};
  };

  // From `frame` to `focus`, all belongs to the worker that is busy with the entity.
  struct Entity {
    Entity(Found f, const Row &first, std::size_t readers)
        : found(std::move(f)), row(first), frame{.row = first, .processes = {}}, turns(readers), initial(first) {
      calls.reserve(readers);
    }

    // Shows a reason in place of everything that was known.
    [[gnu::cold]] void withdraw(const Reading &reason) {
      withdrawn = reason;
      has_row = false;
      processes.clear();
      cores.clear();
      details.reset();
    }

    Found found;
    std::optional<std::size_t> place;  // in the source's last discovery; none: it is gone
    DeviceState state = DeviceState::ok;
    bool has_readings = false;  // since it was first found
    bool fresh = false;         // read since the last report
    bool has_row = false;       // else all readings are `withdrawn`
    bool complete = false;
    bool without_driver = false;  // lost with all the others, and read all the same
    bool dropped = false;         // cannot be used: not shown, and forgotten with the next discovery
    bool completing = false;
    bool busy = false;  // a worker is in a call for it, other than to complete it
    bool hung = false;  // that call has missed its deadline
    Monotonic busy_since{};

    // What was read since the last report, which takes it away.
    Row row;
    std::vector<Process> processes;
    std::vector<CpuCore> cores;
    std::shared_ptr<const DeviceDetails> details;

    Frame frame;
    std::vector<ReaderTurn> turns;  // by wanted reader
    std::vector<Call> calls;        // of the last reading
    std::vector<Process> listed;    // of the last reading, until they are in `processes`
    std::shared_ptr<const MetricSet> focus;

    Monotonic state_since{};
    Reading withdrawn;
    Row initial;
  };
  using EntityPtr = std::shared_ptr<Entity>;

  enum class Step : std::uint8_t { idle, discovering, identifying, reading, completing };
  enum class Stage : std::uint8_t { none, discover, read, complete };

  struct Worker {
    std::atomic<std::int64_t> call_started{0};
    std::atomic<bool> left_behind{false};
    Step step = Step::idle;
    bool borrowed = false;   // the thread of a caller of read_here()
    bool replaced = false;   // somebody else goes on with what the borrowed thread was doing
    EntityPtr entity;        // it is busy with
    std::uint64_t pass = 0;  // it was taken in

    void begin_call(Monotonic now) { call_started = now.time_since_epoch().count(); }
    Monotonic started() const { return Monotonic(Monotonic::duration(call_started.load())); }
  };
  using Lock = std::unique_lock<std::mutex>;

  Core(std::shared_ptr<Source> s, std::shared_ptr<host::ProcessTable> p, std::shared_ptr<sysfs::DeviceEvents> e,
       const RunnerOptions &o)
      : prompt(s->is_prompt()),
        source(std::move(s)),
        options(o),
        tick(o.tick),
        process_table(std::move(p)),
        device_events(std::move(e)) {
    status.name = std::string(source->name());
    const auto infos = source->readers();
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (wants(infos[i])) readers.push_back({.number = i, .cost = ReaderCost(infos[i])});
    }
  }

  // All functions are called with the mutex held, unless they say otherwise. Those with a lock release it for calls to
  // the source. Cold ones are not part of a usual pass.

  // Of a worker's thread; called without the mutex.
  void work(const std::shared_ptr<Worker> &self);
  bool serve(Worker &self, Lock &lock);
  void find_entities(Worker &self, Lock &lock);
  [[gnu::cold]] void discover(Worker &self, Lock &lock, Monotonic now, bool look);
  bool read_next(Worker &self, Lock &lock);
  [[gnu::cold]] bool complete_next(Worker &self, Lock &lock);
  template <class Work>
  bool attend(Worker &self, Step step, Lock &lock, Work work);
  [[gnu::cold]] bool identify(Worker &self, std::size_t place);  // called without the mutex
  void read_entity(Worker &self, Pass what);                     // called without the mutex
  void list_processes(Entity &entity, Monotonic now) const;      // called without the mutex
  static void keep_parts(Entity &entity);
  [[gnu::cold]] void note_outcome(Entity &entity, std::size_t reader, Outcome outcome,
                                  DeviceState &state);                        // called without the mutex
  [[gnu::cold]] void note_refusal(Entity &entity, std::size_t reader) const;  // called without the mutex

  void adopt(Discovery found);
  EntityPtr make_entity(const Found &found, std::size_t place) const;
  EntityPtr settle(EntityPtr entity, Found found);
  void replace(const EntityPtr &entity, const EntityPtr &by);
  EntityPtr take_former(const Found &found);
  void retire_former();
  [[gnu::cold]] void settle_all();

  void begin_pass(Pass pass, Monotonic now);
  bool has_task() const;
  void advance();
  std::size_t supervise(Monotonic now);
  void set_aside(Worker &worker);
  void forgive(std::chrono::nanoseconds gap);
  bool is_under_way(Monotonic now) const;

  // The thread of a caller as a worker, and back; false when it was replaced.
  std::shared_ptr<Worker> borrow_worker();
  bool give_back(const Worker &worker);

  void take(Entity &entity, Monotonic now, Snapshot &snapshot, std::size_t device) const;
  void take_host(Entity &entity, Snapshot &snapshot) const;
  bool take_row(Entity &entity, Row &row) const;
  [[gnu::cold]] void mark_silent(const Entity &entity, Monotonic now, Device &device) const;
  [[gnu::cold]] void list_devices(SourceReport &report);
  [[gnu::cold]] void tell_status(SourceReport &report, Monotonic now) const;
  std::uint32_t count_slowed() const;
  [[gnu::cold]] void add_events(std::vector<Event> more);
  [[gnu::cold]] void set_state(Entity &entity, DeviceState state);
  Row initial_row(Scope scope) const;
  bool wants(const ReaderInfo &info) const;
  void focus(std::shared_ptr<const MetricSet> set);
  void start_frame(Entity &entity) const;
  // Whether a pass reads it.
  static bool is_in_service(const Entity &entity);
  bool is_identifying() const;
  bool any_call_hangs() const;
  bool is_healthy() const;
  // True when there is no entity to read and none has appeared: no worker need be woken.
  bool has_nothing_to_do(Monotonic now);
  // Whether a device may have come or gone since it was last asked. Asked once per check, before anybody looks.
  bool may_have_come_or_gone(Monotonic now);
  // Until then it stays so, and there is nothing to report either.
  Monotonic rests_until() const;
  SourceStatus &change_status();
  [[gnu::cold]] void retry_later(Monotonic now);
  [[gnu::cold]] void note_failure();
  void note(std::string device, EventKind kind, std::string text);

  // What each pass looks at lies together, and the rest behind it.
  std::mutex mutex;
  const bool prompt;  // no worker thread: callers run the passes
  Stage stage = Stage::none;
  Pass requested = Pass::scheduled;
  bool checking = false;    // every entity is asked whether it has changed
  bool look_again = false;  // discovery is due as soon as the source is ready for it
  bool unsettled = false;   // not all that the last discovery has found is identified yet
  bool incomplete = false;  // an entity may have to be completed
  bool discovery_hangs = false;
  bool reported = false;       // with nothing to add until the next pass
  bool status_changed = true;  // since the last report
  bool absent = false;
  bool stopping = false;
  std::uint64_t passes = 0;
  Monotonic pass_begun{};
  std::size_t next = 0;  // the entity to take next in this stage
  std::size_t open = 0;  // entities that were taken in this pass and are not done
  std::vector<EntityPtr> entities;
  std::vector<EntityPtr> former;                 // known before the last discovery, and not found again so far
  std::vector<std::shared_ptr<Worker>> workers;  // without those that were left behind
  std::shared_ptr<Worker> spare;                 // for the next one whose thread is borrowed
  std::shared_ptr<Source> source;
  std::uint64_t discoveries = 0;
  std::chrono::nanoseconds retry_after{0};
  Monotonic next_retry{};
  Monotonic next_check{};
  Monotonic next_part_check{};  // the next check that asks every entity too
  std::chrono::nanoseconds call_time{0};
  std::uint64_t calls = 0;
  struct Reader {
    std::size_t number = 0;  // in the source's list
    ReaderCost cost;
  };
  std::vector<Reader> readers;                // those that are wanted
  std::shared_ptr<const MetricSet> in_focus;  // null: everything
  std::vector<Event> events;
  SourceStatus status{.name = {}, .problem = "not looked for yet", .remedy = {}};
  const RunnerOptions options;
  std::chrono::nanoseconds tick;  // between two samples

  const std::shared_ptr<host::ProcessTable> process_table;
  const std::shared_ptr<sysfs::DeviceEvents> device_events;  // null: not known
  std::optional<std::uint64_t> events_seen;                  // how many there were at the last check
  Monotonic next_look{};                                     // even if there are no more by then
  std::condition_variable asked, done;
  Monotonic discovery_hangs_since{};
  Monotonic last_identified{};
};

}  // namespace gpulse

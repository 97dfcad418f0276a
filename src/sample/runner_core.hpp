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
  // `frame` and `turns` belong to the worker that is busy with the entity.
  struct Entity {
    Entity(Found f, const Row &first, std::size_t readers)
        : found(std::move(f)), initial(first), frame{.row = first, .processes = {}}, turns(readers) {}

    // Shows a reason in place of everything that was known.
    void withdraw(const Reading &reason) {
      withdrawn = reason;
      row.reset();
      processes.clear();
      cores.clear();
      details.reset();
    }

    Found found;
    Row initial;
    Frame frame;
    std::vector<ReaderTurn> turns;
    std::optional<std::size_t> place;  // in the source's last discovery; none: it is gone

    // What was read since the last report, which takes it away; no row: all readings are `withdrawn`.
    std::optional<Row> row;
    Reading withdrawn;
    std::vector<Process> processes;
    std::vector<CpuCore> cores;
    std::shared_ptr<const DeviceDetails> details;
    DeviceState state = DeviceState::ok;
    Monotonic state_since{};
    bool has_readings = false;  // since it was first found
    bool fresh = false;         // read since the last report
    bool complete = false;
    bool without_driver = false;  // lost with all the others, and read all the same
    bool dropped = false;         // cannot be used: not shown, and forgotten with the next discovery
    bool completing = false;
    bool busy = false;  // a worker is in a call for it, other than to complete it
    bool hung = false;  // that call has missed its deadline
    Monotonic busy_since{};
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

  Core(std::shared_ptr<Source> s, std::shared_ptr<host::ProcessTable> p, const RunnerOptions &o)
      : source(std::move(s)), process_table(std::move(p)), options(o), prompt(source->is_prompt()), tick(o.tick) {
    status.name = std::string(source->name());
    for (const auto &info : source->readers()) {
      if (wants(info)) wanted_readers.push_back(costs.size());
      costs.emplace_back(info);
    }
  }

  // All functions are called with the mutex held, unless they say otherwise. Those with a lock release it for calls to
  // the source.

  // Of a worker's thread; called without the mutex.
  void work(const std::shared_ptr<Worker> &self);
  bool serve(Worker &self, Lock &lock);
  void find_entities(Worker &self, Lock &lock);
  bool read_next(Worker &self, Lock &lock);
  bool complete_next(Worker &self, Lock &lock);
  template <class Work>
  bool attend(Worker &self, const EntityPtr &entity, Step step, Lock &lock, Work work);
  bool identify(Worker &self, std::size_t place);                  // called without the mutex
  void read_entity(Worker &self, Pass what);                       // called without the mutex
  void publish(Entity &entity, DeviceState state, Monotonic now);  // called without the mutex
  void note_outcome(Entity &entity, std::size_t reader, Outcome outcome,
                    DeviceState &state);  // called without the mutex

  void adopt(Discovery found);
  EntityPtr make_entity(const Found &found, std::size_t place) const;
  EntityPtr settle(EntityPtr entity, Found found);
  void replace(const EntityPtr &entity, const EntityPtr &by);
  EntityPtr take_former(const Found &found);
  void retire_former();

  void begin_pass(Pass pass, Monotonic now);
  bool has_task() const;
  void advance();
  std::size_t supervise(Monotonic now);
  void set_aside(Worker &worker);
  void forgive(std::chrono::nanoseconds gap);
  bool is_under_way(Monotonic now) const;

  SourceReport::Entity take(Entity &entity, Monotonic now) const;
  void set_state(Entity &entity, DeviceState state);
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
  void retry_later(Monotonic now);
  void note_failure(const std::string &why);
  void note(std::string device, EventKind kind, std::string text);

  std::shared_ptr<Source> source;
  const std::shared_ptr<host::ProcessTable> process_table;
  const RunnerOptions options;
  const bool prompt;  // no worker thread: callers run the passes

  std::mutex mutex;
  std::condition_variable asked, done;
  bool stopping = false;
  std::chrono::nanoseconds tick;                 // between two samples
  std::vector<std::shared_ptr<Worker>> workers;  // without those that were left behind

  Stage stage = Stage::none;
  Pass requested = Pass::scheduled;
  std::uint64_t passes = 0;
  Monotonic pass_begun{};
  std::size_t next = 0;     // the entity to take next in this stage
  std::size_t open = 0;     // entities that were taken in this pass and are not done
  bool checking = false;    // every entity is asked whether it has changed
  bool look_again = false;  // discovery is due as soon as the source is ready for it

  std::vector<EntityPtr> entities;
  std::vector<EntityPtr> former;  // known before the last discovery, and not found again so far
  std::vector<Event> events;
  SourceStatus status{.name = {}, .problem = "not looked for yet", .remedy = {}};
  bool absent = false;
  bool reported = false;  // with nothing to add until the next pass
  std::uint64_t discoveries = 0;
  bool unsettled = false;   // not all that the last discovery has found is identified yet
  bool incomplete = false;  // an entity may have to be completed
  bool discovery_hangs = false;
  Monotonic discovery_hangs_since{};
  Monotonic last_identified{};
  std::chrono::nanoseconds retry_after{0};
  Monotonic next_retry{};
  Monotonic next_check{};
  std::chrono::nanoseconds call_time{0};
  std::uint64_t calls = 0;
  std::vector<ReaderCost> costs;
  std::vector<std::size_t> wanted_readers;
  // Until then there is nothing to read, to look after or to report; changed with the mutex held.
  std::atomic<Monotonic> quiet_until{Monotonic::min()};
  std::shared_ptr<const MetricSet> in_focus;  // null: everything
};

}  // namespace gpulse

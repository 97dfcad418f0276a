// SPDX-License-Identifier: Apache-2.0
// The state of a Runner, shared by its worker threads and its callers, and kept alive by all of them.
#pragma once

#include <atomic>
#include <condition_variable>

#include "sample/runner.hpp"

namespace gpulse {

struct Runner::Core {
  // Worker::busy_with, where it is not the place of an entity.
  static constexpr std::ptrdiff_t kIdle = -2;
  static constexpr std::ptrdiff_t kDiscovering = -1;

  // `frame` and `turns` belong to the worker that reads the entity; the rest is guarded by the mutex.
  struct Entity {
    Entity(Found f, const Row &first, std::size_t readers)
        : found(std::move(f)), initial(first), frame{.row = first, .processes = {}}, turns(readers), published(first) {}

    Found found;
    Row initial;
    Frame frame;
    std::vector<ReaderTurn> turns;
    std::optional<std::size_t> place;  // in the source's last discovery; none: it is gone

    Row published;
    std::vector<Process> processes;
    std::vector<CpuCore> cores;
    std::shared_ptr<const DeviceDetails> details;
    DeviceState state = DeviceState::ok;
    Monotonic state_since{};
    bool has_readings = false;  // since it was first found
    bool hung = false;
  };

  // What one worker is doing, for callers that check its deadline. A worker that is left behind keeps its own.
  struct Worker {
    std::atomic<std::int64_t> call_started{0};
    std::atomic<std::ptrdiff_t> busy_with{kIdle};
    std::atomic<bool> left_behind{false};  // written with the mutex held

    // The time is stored first, so that a reader of busy_with never pairs it with an older start.
    void begin(std::ptrdiff_t what, Monotonic now) {
      call_started = now.time_since_epoch().count();
      busy_with = what;
    }
  };

  Core(std::shared_ptr<Source> s, std::shared_ptr<host::ProcessTable> p, const RunnerOptions &o)
      : source(std::move(s)), process_table(std::move(p)), options(o), prompt(source->is_prompt()) {
    for (const auto &info : source->readers()) {
      costs.emplace_back(info);
      wanted_readers.push_back(wants(info));
    }
  }

  void work(const std::shared_ptr<Worker> &self);
  bool serve(Worker &self);
  bool try_pass(Worker &self, Pass what);
  bool pass(Worker &self, Pass what);
  void find_entities(Worker &self);
  bool read_entity(Worker &self, const std::shared_ptr<Entity> &entity, std::ptrdiff_t place, Pass what);
  void adopt(Discovery found);
  void note_outcome(Entity &entity, std::size_t reader, Outcome outcome, DeviceState &state);
  void publish(Entity &entity, DeviceState state, Monotonic now);
  void set_state(Entity &entity, DeviceState state);
  bool set_aside(Monotonic now);
  Row initial_row(Scope scope) const;
  bool wants(const ReaderInfo &info) const;
  void focus(std::shared_ptr<const MetricSet> set);
  void start_frame(Entity &entity) const;
  bool any_call_hangs() const;
  bool is_healthy() const;
  // True when there is no entity to read and none has appeared: the worker need not be woken.
  bool has_nothing_to_do(Monotonic now);
  void retry_later(Monotonic now);
  void note(std::string device, EventKind kind, std::string text);

  std::shared_ptr<Source> source;
  const std::shared_ptr<host::ProcessTable> process_table;
  const RunnerOptions options;
  const bool prompt;  // no worker thread: callers run the passes

  std::mutex mutex;
  std::condition_variable asked, done;
  bool stopping = false;
  bool ended = false;              // the current worker has left its loop
  std::shared_ptr<Worker> worker;  // the current one; earlier ones have been left behind
  bool working = false;
  Pass requested = Pass::scheduled;
  std::vector<std::shared_ptr<Entity>> entities;
  std::vector<Event> events;
  std::string problem = "not looked for yet";
  std::string remedy;
  std::string driver;
  bool mistake = false;
  std::uint16_t code = 0;
  bool absent = false;
  std::vector<ExcludedDevice> excluded;
  bool discovered = false;
  bool discovery_hangs = false;
  Monotonic discovery_hangs_since{};
  std::chrono::nanoseconds retry_after{0};
  Monotonic next_retry{};
  Monotonic next_check{};
  std::chrono::nanoseconds call_time{0};
  std::uint64_t calls = 0;
  std::size_t resume_from = 0;  // where a replacement worker continues the pass
  std::vector<ReaderCost> costs;
  std::vector<bool> wanted_readers;
  std::shared_ptr<const MetricSet> in_focus;  // null: everything
};

}  // namespace gpulse

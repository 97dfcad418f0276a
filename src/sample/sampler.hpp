// SPDX-License-Identifier: Apache-2.0
// Turns what the sources know into snapshots, on request. All functions may be called from any thread.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "sample/runner.hpp"
#include "source/host/self.hpp"

namespace gpulse {

class Sampler {
 public:
  Sampler(std::vector<std::shared_ptr<Source>> sources, const Sysroot &root, const RunnerOptions &options);
  Sampler(const Sampler &) = delete;
  Sampler &operator=(const Sampler &) = delete;

  // Takes one snapshot. Waits for each source, but no longer than its deadlines, or until a stop is requested. One
  // caller at a time; a second one waits.
  SnapshotPtr sample(Pass pass, const std::stop_token &stop = {});
  // Waits no longer than `time_limit`; a device that was not read by then does not respond in this snapshot.
  SnapshotPtr sample_within(Pass pass, std::chrono::nanoseconds time_limit, const std::stop_token &stop = {});

  // Takes one on this thread, which may hang in a driver. Null when another thread had to go on meanwhile: this one is
  // of no use any more then.
  SnapshotPtr sample_here(Pass pass, std::chrono::nanoseconds time_limit, const std::stop_token &stop);
  // Has what a sample looks at brought near, after a sleep in which it went out of the caches.
  void fetch() const;
  // Whether a call of sample_here() has been in a driver for so long, and to go on in its place, by sample_within().
  bool is_held(std::chrono::nanoseconds time) const;
  void replace();

  // Says what is shown from now on. Everything else is read as seldom as RunnerOptions::rest says, unless reading it is
  // nearly free. Never waits for a driver.
  void focus(const MetricSet &set);

  // How long it is between two samples from now on, by which what a reader may cost is judged.
  void set_tick(std::chrono::nanoseconds tick);

  std::vector<CostReport> costs() const;

  // Asks the sources to let go of their drivers, without waiting for them. True when all have. No sample can be taken
  // after it.
  bool try_close();

 private:
  SnapshotPtr take(Pass pass, std::chrono::nanoseconds time_limit, bool patient, const std::stop_token &stop);
  void wait(Monotonic until, bool patient, const std::stop_token &stop);
  // `begun`: when the sample was asked for.
  SnapshotPtr assemble(Monotonic begun);
  // One that nobody else has: new, or as it was some samples ago.
  std::shared_ptr<Snapshot> free_snapshot();
  [[gnu::cold]] std::shared_ptr<Snapshot> new_snapshot();
  [[gnu::cold]] void collect_statuses();
  [[gnu::cold]] void collect_events();
  [[gnu::cold]] void number_devices();
  void place_devices(Snapshot &snapshot) const;
  DeviceId id_of(const Found &found);

  RunnerOptions options_;
  bool wants_self_;
  Text hostname_;
  std::shared_ptr<host::ProcessTable> processes_;
  Monotonic next_cleaning_{};  // of the table of processes
  std::deque<Runner> runners_;
  std::vector<SourceReport> reports_;             // of each; what a source that stays away had to say is kept
  std::map<std::string, std::uint32_t> indices_;  // by UUID and by PCI address: a device keeps its number while we run
  std::uint32_t next_index_ = 0;
  std::vector<DeviceId> ids_;                            // of the devices, as the sources report them
  bool in_order_ = true;                                 // they rise
  std::array<std::shared_ptr<Snapshot>, 2> handed_out_;  // the last two, whose memory is used again
  bool has_host_ = false;                                // one of them may have readings of it
  host::SelfUse self_use_;
  SharedVector<SourceStatus> statuses_;  // as last reported
  SharedVector<Event> events_;
  mutable std::mutex sampling_;
};

}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// Turns what the sources know into snapshots, on request. All functions may be called from any thread.
#pragma once

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
  SnapshotPtr assemble(Seconds took);
  void collect_statuses();
  void collect_events();
  // Whether the entities are those of the last sample.
  bool is_placed() const;
  void find_places();
  void place_devices(Snapshot &snapshot);
  DeviceId id_of(const Found &found);

  RunnerOptions options_;
  bool wants_self_;
  Text hostname_;
  std::shared_ptr<host::ProcessTable> processes_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::vector<SourceReport> reports_;             // of each; what a source that stays away had to say is kept
  std::map<std::string, std::uint32_t> indices_;  // by UUID and by PCI address: a device keeps its number while we run
  std::uint32_t next_index_ = 0;
  struct Place {
    std::shared_ptr<const DeviceIdentity> identity;
    DeviceId id;
  };
  std::vector<Place> places_;  // of the devices of the last sample, as the sources report them
  host::SelfUse self_use_;
  SharedVector<SourceStatus> statuses_;  // as last reported
  SharedVector<Event> events_;
  std::mutex sampling_;
};

}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// Turns what the sources know into snapshots: once when asked, or at an interval in the background.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
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
  ~Sampler();

  // One snapshot. Waits for the sources, each no longer than its deadlines.
  SnapshotPtr sample(Pass pass);

  // Samples at an interval on a thread of its own, until stop() or the end.
  // With a `first` snapshot that one is the newest, and the next one follows an interval later.
  // Each is handed to `taker` on that thread.
  void start(std::chrono::nanoseconds interval, SnapshotPtr first = nullptr,
             std::function<void(const SnapshotPtr &)> taker = nullptr);
  void stop();
  // The newest snapshot; null before the first. Never waits for a driver.
  SnapshotPtr latest() const;
  // Waits for one newer than `seen`; null when `until` comes first.
  SnapshotPtr wait_newer(const SnapshotPtr &seen, Monotonic until) const;

  // What somebody looks at from now on. The rest is read every ten seconds where reading it is not nearly free. Never
  // waits for a driver.
  void focus(const MetricSet &set);

  std::vector<CostReport> costs() const;

 private:
  SnapshotPtr assemble(Seconds took);
  void place_devices(std::vector<SourceReport> &reports, Snapshot &snapshot);
  std::uint32_t index_of(const DeviceIdentity &identity);
  void run(const std::stop_token &stop, std::chrono::nanoseconds interval,
           const std::function<void(const SnapshotPtr &)> &taker);
  SnapshotPtr sample_within(Pass pass, std::chrono::nanoseconds time_limit, const std::stop_token &stop);

  RunnerOptions options_;
  std::string hostname_;
  std::shared_ptr<host::ProcessTable> processes_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::map<std::string, std::uint32_t> indices_;  // by uuid and by PCI address: a device keeps its number while we run
  std::uint32_t next_index_ = 0;
  host::SelfUse self_use_;
  std::deque<Event> events_;
  std::mutex sampling_;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any newer_;
  SnapshotPtr latest_;
  std::jthread thread_;
};

}  // namespace gpulse

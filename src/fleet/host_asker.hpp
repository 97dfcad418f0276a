// SPDX-License-Identifier: Apache-2.0
// One host in depth, as an engine knows it: whole samples, as its agent showed them, and curves. What another exporter
// tells of a host is a sample too, with the little that it has. One thread.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fleet/engine.hpp"
#include "fleet/fleet_snapshot.hpp"
#include "insight/finding.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse::fleet {

struct HostPlace {
  std::string instance{};  // the label as it came
  Text name{};
  Exporter exporter = Exporter::gpulse;
  std::optional<std::string> cluster{};  // the label as it came, empty: there is none; none: whichever
};
HostPlace place_of(const FleetHost &host);

// A sample, and what its agent found to be wrong then. A finding has its title for a sentence: an engine keeps no
// evidence.
struct HostSample {
  SnapshotPtr snapshot{};  // its time is that of the host's own clock; null: the engine has nothing of then
  std::vector<insight::Finding> findings{};
};

// A sample that there is: the step at which it is the newest, and when the host took it.
struct HostMoment {
  WallTime step{}, taken{};
};

// A metric of a device over time: a value for each step, or a gap (not a number).
struct HostCurve {
  MetricId metric{};
  std::string uuid{};  // empty: of the host
  std::vector<double> mean{}, least{}, greatest{};
};
struct HostCurves {
  WallTime first{};  // the end of the first step
  std::chrono::seconds step{};
  std::size_t count = 0;
  std::vector<HostCurve> curves{};
};

class HostAsker {
 public:
  HostAsker(EngineOptions options, HostPlace host);

  const HostPlace &host() const { return host_; }
  EngineResult<HostSample> sample(WallTime at, const std::stop_token &stop = {});
  // One for each step at which the host had taken a new sample. Steps begin at multiples of their length.
  EngineResult<std::vector<HostSample>> samples(WallTime first, WallTime last, std::chrono::seconds step,
                                                const std::stop_token &stop = {});
  // When these were taken.
  EngineResult<std::vector<HostMoment>> moments(WallTime first, WallTime last, std::chrono::seconds step,
                                                const std::stop_token &stop = {});
  // In the units of the metric table, as each metric folds; of a counter what it grew by. Least and greatest are those
  // of the step, and empty where it has no more than one value of the host's.
  EngineResult<HostCurves> curves(WallTime first, WallTime last, std::chrono::seconds step,
                                  std::span<const MetricId> metrics, const std::stop_token &stop = {});

 private:
  Seconds interval_in(const HostCurves &curves, const std::stop_token &stop);
  EngineResult<void> add_curves(HostCurves &curves, MetricId metric, const std::stop_token &stop);

  Engine engine_;
  HostPlace host_;
  std::optional<Seconds> interval_{};  // between two of its samples in the engine
};

}  // namespace gpulse::fleet

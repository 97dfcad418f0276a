// SPDX-License-Identifier: Apache-2.0
// What a stretch of a program took of a device, from the samples before, within and after it. Any thread may begin, end
// and look at a region; the monitor's thread adds the samples.
//
// Energy comes from the device's counter, which is read about once a second and moves in steps of its own. So a region
// has bounds: what the counter says between two of its readings is sure; for the time between a reading and the
// region's edge the device may have drawn nothing, or as much as its power limit allows. A figure in between is given
// only where the counter was read at least twice within the region, near its edges, or where the lower bound is at
// least half of the upper one. A device without a limit has an upper bound only where readings of the counter lie on
// both sides of the region.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "metric/set.hpp"
#include "monitor/sample.hpp"

namespace gpulse::monitor {

struct RegionUse {
  Seconds wall{0};
  std::uint32_t samples = 0;
  bool settled = false;
  Reading memory_begin{}, memory_end{}, memory_peak{};
  Reading process_memory_begin{}, process_memory_end{}, process_memory_peak{};
  Reading memory_total{};
  Reading utilization{}, true_activity{};
  Reading energy{}, energy_min{}, energy_max{};
};

// One device's part of a region. Points are added in the order of time.
class DeviceUse {
 public:
  void add(const RegionPoint &point, Monotonic begin, std::optional<Monotonic> end);
  // `settled` is left to the region.
  RegionUse use(Monotonic begin, Monotonic end) const;
  // Whether nothing that comes after this moment could make it better.
  bool is_settled(Monotonic end, Monotonic now) const;

 private:
  struct Mean {
    double sum = 0;
    std::uint32_t count = 0;
    Reading why{};  // the last reason, where there was no number
    void add(const Reading &reading);
    Reading value() const { return count > 0 ? Reading(sum / count) : why; }
  };
  struct Peak {
    Reading most{};
    void add(const Reading &reading);
  };
  void add_within(const RegionPoint &point);
  void add_energy(const EnergyPoint &point, Monotonic begin, std::optional<Monotonic> end);
  void tell_energy(RegionUse &use, Monotonic begin, Monotonic end) const;
  double likely_energy(Monotonic begin, Monotonic end) const;

  std::optional<RegionPoint> before_, first_, last_, after_;  // around and within
  std::uint32_t within_ = 0;
  Mean utilization_, true_activity_;
  Peak memory_, process_memory_;
  double limit_watts_ = 0;  // 0: not known
  double most_watts_ = 0;   // that were seen
  // Readings of the counter: the last one before the region, the first and the last within, the first after it.
  std::optional<EnergyPoint> energy_before_, energy_first_, energy_last_, energy_after_;
};

class Region {
 public:
  // `before`: the newest sample there was.
  Region(std::string name, Monotonic begin, SamplePtr before);

  const std::string &name() const { return name_; }
  void end(Monotonic at);
  // False: it has all it needs.
  bool add(const Sample &sample);
  // None: no sample had a device of that UUID.
  std::optional<RegionUse> use(std::string_view uuid) const;
  std::vector<std::string> uuids() const;

 private:
  // By UUID.
  using Devices = std::map<std::string, DeviceUse, std::less<>>;

  // With the mutex held.
  void add_points(const Sample &sample) const;
  void add_before() const;

  const std::string name_;
  const Monotonic begin_;
  mutable std::mutex mutex_;
  mutable SamplePtr before_;  // until somebody looks: a region has to begin and end at next to no cost
  std::optional<Monotonic> end_;
  bool settled_ = false;
  mutable Devices devices_;
};

// What regions take from the sample, of each device; the process is this one. `before`: the sample before it, if any.
std::vector<RegionPoint> region_points(const Sample &sample, const SamplePtr &before);
// The metrics that regions look at.
MetricSet region_needs();

}  // namespace gpulse::monitor

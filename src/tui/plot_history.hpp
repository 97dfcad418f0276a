// SPDX-License-Identifier: Apache-2.0
// The values to plot, up to the sample on the screen. Grows by one value per sample; after a jump in time what is
// missing is read from the timeline, and all of it when something else is to be plotted. UI thread only.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "feed/timeline.hpp"

namespace gpulse::tui {

// A metric of a device, of a process on a device, or of the host.
struct PlotKey {
  DeviceId device;
  std::uint32_t pid = 0;  // 0: of the device, or of the host where the metric is
  std::uint16_t metric = 0;
  auto operator<=>(const PlotKey &) const = default;
};

class PlotHistory {
 public:
  // Which metrics to keep from now on, and how many values of each.
  void want(std::vector<PlotKey> keys, std::size_t values);
  // Catches up with the sample of this number.
  void show(feed::Timeline &timeline, std::uint64_t number, const Snapshot &snapshot);

  // Oldest first, at most as many as wanted; term::kGap where there was no reading.
  std::span<const float> values(const PlotKey &key) const;
  // When each of them was taken.
  std::span<const WallTime> times() const;

 private:
  void add(const Snapshot &snapshot);
  void add_gap(WallTime time);
  void add(feed::Timeline &timeline, std::uint64_t from, std::uint64_t to);
  void trim();
  void step_back(feed::Timeline &timeline, std::uint64_t oldest, std::uint64_t number);

  std::map<PlotKey, std::vector<float>> kept_;
  std::vector<WallTime> times_;  // as many as each of them has values
  std::size_t wanted_ = 0;
  std::optional<std::uint64_t> shown_;
  std::uint64_t oldest_ = 0;  // whose values come first; every sample from there to the one shown has one
};

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// The parts (GTs) of an Intel GPU as their two drivers show them: clocks, idle time, what holds them back, engines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metric/table.hpp"
#include "source/drm/card.hpp"

namespace gpulse::intel {

inline constexpr std::string_view kI915 = "i915", kXe = "xe", kNpu = "intel_vpu";

struct ThrottleFile {
  std::string path;
  std::uint64_t bits = 0;  // of throttle_reasons
};

// Files that are not there have an empty path.
struct Gt {
  int number = 0;
  bool media = false;             // only video engines: its clock and idle time are not those of the GPU
  std::string actual, requested;  // clocks
  std::string highest;
  std::string highest_media;         // of the video engines, where they have a clock of their own in a common part
  std::string idle_ms;               // time spent in the deepest idle state
  std::string throttle;              // whether anything holds the clock back
  std::vector<ThrottleFile> causes;  // what it is
};

std::vector<Gt> find_gts(const Sysroot &root, const drm::Card &card);

// Which of the engine metrics the device has; empty where the driver does not tell.
std::vector<MetricId> find_engines(const Sysroot &root, const drm::Card &card);

// The metric of an engine by its short name: "rcs", "vcs0".
std::optional<MetricId> engine_metric(std::string_view name);

// As throttle_reasons has it, from the driver's word: "pl1", "vr_tdc".
std::uint64_t throttle_bits(std::string_view cause);

}  // namespace gpulse::intel

// SPDX-License-Identifier: Apache-2.0
// The parts (GTs) of an Intel GPU as i915 and xe show them: clocks, idle time, throttling, engines.
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

// Paths of files; empty when there is no such file.
struct Gt {
  int number = 0;
  bool media = false;             // has video engines only: its clock and idle time are not the GPU's
  std::string actual, requested;  // clocks
  std::string highest;
  std::string highest_media;         // of the video engines, when they have their own clock within this GT
  std::string idle_ms;               // time spent in the deepest idle state
  std::string throttle;              // whether the clock is throttled
  std::vector<ThrottleFile> causes;  // why it is throttled
};

std::vector<Gt> find_gts(const Sysroot &root, const drm::Card &card);

// Which of the engine metrics the device has; empty when the driver does not list its engines.
std::vector<MetricId> find_engines(const Sysroot &root, const drm::Card &card);

// The metric of an engine by its short name: "rcs", "vcs0".
std::optional<MetricId> engine_metric(std::string_view name);

// The bits of throttle_reasons for the driver's "pl1", "vr_tdc" and so on.
std::uint64_t throttle_bits(std::string_view cause);

}  // namespace gpulse::intel

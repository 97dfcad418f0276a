// SPDX-License-Identifier: Apache-2.0
// What gpulse has found out about a stretch of time: why the GPUs were not busy, what is about to go wrong, or that all
// is well. Plain values; the rules make them, views show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "metric/metric.hpp"
#include "model/snapshot.hpp"

namespace gpulse::insight {

// The words for these are a contract: insight/catalogue.hpp.
enum class FindingId : std::uint8_t {
  input_cpu,
  input_io,
  launch_bound,
  memory_bandwidth,
  tensor_unused,
  wrong_precision,
  copy_bound,
  throttled_power,
  throttled_thermal,
  throttled_hardware,
  memory_leak,
  memory_full,
  out_of_memory,
  memory_headroom,
  memory_held_idle,
  host_memory,
  spinning,
  hung,
  periodic_stalls,
  imbalance,
  link_degraded,
  health,
  healthy,
  idle,
  unknown,
};
inline constexpr std::size_t kFindingIds = static_cast<std::size_t>(FindingId::unknown) + 1;

// How much it deserves to be seen: views are silent about what is well.
enum class Weight : std::uint8_t { ok, note, problem };
std::string_view word(Weight weight);  // "ok", "note", "problem": JSON's "severity"

// A number that a finding rests on. The name is a metric's key, or ends in its unit as those do.
struct Fact {
  std::string name;
  double value = 0;
  Unit unit = Unit::none;

  bool operator==(const Fact &) const = default;
};

struct Finding {
  FindingId id = FindingId::unknown;
  Weight weight = Weight::ok;
  double confidence = 0;   // from 0 to 1; not a number: whoever told of it did not say
  bool estimated = false;  // the GPU does not tell what would be needed to be sure
  std::vector<DeviceId> devices{};
  std::vector<std::uint32_t> pids{};
  WallTime since{}, until{};           // it was seen; no since: nobody knows
  std::optional<double> lost_share{};  // of GPU time, from 0 to 1; none: it costs none, or how much cannot be told
  std::string text{};                  // one plain sentence
  std::vector<Fact> evidence{};
  std::vector<std::string> advice{};  // what to try, the first first

  bool operator==(const Finding &) const = default;
};

}  // namespace gpulse::insight

// SPDX-License-Identifier: Apache-2.0
// What the fleet view asks an engine: a query for each thing it shows. Names of families are those of the metric table
// and of view/families. Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metric/table.hpp"

namespace gpulse::fleet {

// The readings of each GPU.
enum class FleetReading : std::uint8_t { utilization, true_activity, memory_used, memory_total, power, temperature };
inline constexpr std::size_t kFleetReadings = 6;

inline constexpr std::array<MetricId, kFleetReadings> kReadingMetrics{
    role_metric<Scope::device>(Role::utilization), role_metric<Scope::device>(Role::true_activity),
    role_metric<Scope::device>(Role::memory_used), role_metric<Scope::device>(Role::memory_total),
    role_metric<Scope::device>(Role::power),       role_metric<Scope::device>(Role::temperature),
};

// The readings come first, in their order. `alive`: when each host took its last sample; `idle`: GPUs on which hardly a
// kernel ran for a quarter of an hour, although somebody held them at its beginning too.
enum class FleetPart : std::uint8_t {
  utilization,
  true_activity,
  memory_used,
  memory_total,
  power,
  temperature,
  alive,
  state,
  owners,
  findings,
  errors,
  idle,
};
inline constexpr std::size_t kFleetParts = 12;

std::string_view word(FleetPart part);
std::string fleet_query(FleetPart part);

// When hosts that are silent now took their last sample, as far as a day back.
std::string last_alive_query(const std::vector<std::string> &instances);

}  // namespace gpulse::fleet

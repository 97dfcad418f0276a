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

// What GPUs are compared by: of ten minutes, so that no moment decides. Means; the clock in the middle and the best
// link, because both rest when the GPU does; limits as they are.
enum class FleetSteady : std::uint8_t {
  utilization,  // of a GPU that was there at the beginning
  true_activity,
  power,
  clock,
  link_generation,
  link_width,
  power_limit,
  clock_max,
};
inline constexpr std::size_t kFleetSteady = 8;

inline constexpr std::array<MetricId, kFleetSteady> kSteadyMetrics{
    role_metric<Scope::device>(Role::utilization), role_metric<Scope::device>(Role::true_activity),
    role_metric<Scope::device>(Role::power),       role_metric<Scope::device>(Role::clock),
    device_metric("pcie_link_generation"),         device_metric("pcie_link_width"),
    role_metric<Scope::device>(Role::power_limit), device_metric("clock_max_graphics_mhz"),
};

// The readings come first, in their order. `alive`: when each host took its last sample, by its own
// clock; `told`: when the engine had it; `going`: hosts whose own clock has gone on in the last two
// minutes; `processes`: how many each
// GPU has, where they could be listed; `idle`: GPUs on which hardly a kernel ran for a quarter of an hour, although
// somebody held them at its beginning too. From `steady_utilization` on, in the order of FleetSteady, what GPUs are
// compared by; `owners_before`: who held them ten minutes ago.
enum class FleetPart : std::uint8_t {
  utilization,
  true_activity,
  memory_used,
  memory_total,
  power,
  temperature,
  alive,
  told,
  going,
  state,
  owners,
  processes,
  findings,
  errors,
  idle,
  steady_utilization,
  steady_true_activity,
  steady_power,
  steady_clock,
  steady_link_generation,
  steady_link_width,
  steady_power_limit,
  steady_clock_max,
  owners_before,
};
inline constexpr std::size_t kFleetParts = 24;

constexpr FleetPart part_of(FleetSteady steady) {
  return static_cast<FleetPart>(static_cast<std::size_t>(FleetPart::steady_utilization) +
                                static_cast<std::size_t>(steady));
}
// It changes slowly, so that an answer may serve for a while.
constexpr bool is_slow(FleetPart part) { return part >= FleetPart::steady_utilization; }

std::string_view word(FleetPart part);
std::string fleet_query(FleetPart part);

// When hosts that are silent now took their last sample, as far as a day back.
std::string last_alive_query(const std::vector<std::string> &instances);

}  // namespace gpulse::fleet

// SPDX-License-Identifier: Apache-2.0
// The table that amdgpu's firmware fills and the driver hands out as the file gpu_metrics: 17 layouts, one per family
// of chips. Only what other files lack is taken from it.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpulse::amdgpu {

// In the metric table's units: °C, %, W, MHz, RPM, V; counters as they are.
enum class Field : std::uint8_t {
  temperature_edge,
  temperature_hotspot,
  temperature_memory,
  temperature_soc,
  temperature_vr_graphics,
  temperature_vr_soc,
  temperature_vr_memory,
  activity_graphics,
  activity_memory,
  activity_video,
  activity_jpeg,
  power_socket,
  energy,  // in 2^-16 J on the chips of data centres
  clock_graphics,
  clock_soc,
  clock_memory,
  clock_fabric,
  clock_video,
  fan_rpm,
  voltage_soc,
  voltage_graphics,
  voltage_memory,
  throttle,  // bits, see decode_throttle
  pcie_replay,
  xgmi_read_kib,
  xgmi_write_kib,
  // How long the clocks were held back, and the count of the same clock that it is a part of.
  accumulation,
  residency_prochot,
  residency_power,
  residency_socket_heat,
  residency_regulator_heat,
  residency_memory_heat,
  // As above on APUs, where nothing says what they are a part of.
  growth_prochot,
  growth_power_sustained,
  growth_power_fast,
  growth_power_slow,
  growth_core_heat,
  growth_graphics_heat,
  growth_soc_heat,
};
inline constexpr std::size_t kFields = static_cast<std::size_t>(Field::growth_soc_heat) + 1;
inline constexpr std::size_t kMostPartitions = 8;

struct GpuMetrics {
  std::uint8_t format = 0, content = 0;
  std::array<double, kFields> values{};
  std::bitset<kFields> has;
  std::uint64_t throttle = 0;
  // Of the parts a split chip works as: the mean use of each one's engines.
  std::array<std::optional<double>, kMostPartitions> partition_busy;

  std::optional<double> operator[](Field field) const {
    const auto i = static_cast<std::size_t>(field);
    return has[i] ? std::optional(values[i]) : std::nullopt;
  }
  // Formats 2 and 3 are of processors with graphics.
  bool integrated() const { return format == 2 || format == 3; }
};

// None where the layout is unknown or the bytes are fewer than it says.
std::optional<GpuMetrics> parse_gpu_metrics(std::string_view bytes);

// The throttle bits as bits of state_names::kThrottle.
std::uint64_t decode_throttle(std::uint64_t bits);
// Heat of the chip's hottest point, which some chips report at rest.
inline constexpr std::uint64_t kHotspotBit = 1ULL << 36U;

}  // namespace gpulse::amdgpu

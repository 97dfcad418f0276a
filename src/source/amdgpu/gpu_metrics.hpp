// SPDX-License-Identifier: Apache-2.0
// Parser for gpu_metrics, a table that the firmware fills, in 17 layouts for different families of chips. Only values
// that no other file has are taken from it. Pure.
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
  energy,  // in units of 2^-16 J on data-centre chips
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
  // How long the clocks were throttled, and the total of the same counter.
  accumulation,
  residency_prochot,
  residency_power,
  residency_socket_heat,
  residency_regulator_heat,
  residency_memory_heat,
  // The same on APUs, without a total to compare with.
  growth_prochot,
  growth_power_sustained,
  growth_power_fast,
  growth_power_slow,
  growth_core_heat,
  growth_graphics_heat,
  growth_soc_heat,
};
inline constexpr std::size_t kFields = static_cast<std::size_t>(Field::growth_soc_heat) + 1;
inline constexpr std::size_t kMaxPartitions = 8;

struct GpuMetrics {
  std::uint8_t format = 0, content = 0;
  std::array<double, kFields> values{};
  std::bitset<kFields> has;
  std::uint64_t throttle = 0;
  // For each part of a split chip: the mean utilisation of its engines.
  std::array<std::optional<double>, kMaxPartitions> partition_busy;

  std::optional<double> operator[](Field field) const {
    const auto i = static_cast<std::size_t>(field);
    return has[i] ? std::optional(values[i]) : std::nullopt;
  }
  // Formats 2 and 3 are those of APUs.
  bool integrated() const { return format == 2 || format == 3; }
};

// None when the layout is unknown or there are fewer bytes than it needs.
std::optional<GpuMetrics> parse_gpu_metrics(std::string_view bytes);

// The throttle bits as bits of state_names::kThrottle.
std::uint64_t decode_throttle(std::uint64_t bits);
// The hotspot limit, which some chips report while idle.
inline constexpr std::uint64_t kHotspotBit = 1ULL << 36U;

}  // namespace gpulse::amdgpu

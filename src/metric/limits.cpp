// SPDX-License-Identifier: Apache-2.0
#include "metric/limits.hpp"

#include <algorithm>
#include <array>

namespace gpulse {

namespace {

struct LimitRow {
  MetricId metric, limit;
};
constexpr std::array kLimits{
    LimitRow{device_metric("memory_used_bytes"), device_metric("memory_total_bytes")},
    LimitRow{device_metric("memory_vram_used_bytes"), device_metric("memory_vram_total_bytes")},
    LimitRow{device_metric("memory_gtt_used_bytes"), device_metric("memory_gtt_total_bytes")},
    LimitRow{device_metric("memory_visible_used_bytes"), device_metric("memory_visible_total_bytes")},
    LimitRow{device_metric("bar1_used_bytes"), device_metric("bar1_total_bytes")},
    LimitRow{device_metric("power_draw_watts"), device_metric("power_limit_watts")},
    LimitRow{device_metric("power_instant_watts"), device_metric("power_limit_watts")},
    LimitRow{device_metric("power_average_watts"), device_metric("power_limit_watts")},
    LimitRow{device_metric("power_limit_watts"), device_metric("power_limit_max_watts")},
    LimitRow{device_metric("temperature_gpu_celsius"), device_metric("temperature_slowdown_celsius")},
    LimitRow{device_metric("temperature_hotspot_celsius"), device_metric("temperature_hotspot_max_celsius")},
    LimitRow{device_metric("temperature_memory_celsius"), device_metric("temperature_memory_max_celsius")},
    LimitRow{device_metric("clock_graphics_mhz"), device_metric("clock_max_graphics_mhz")},
    LimitRow{device_metric("clock_sm_mhz"), device_metric("clock_max_sm_mhz")},
    LimitRow{device_metric("clock_memory_mhz"), device_metric("clock_max_memory_mhz")},
    LimitRow{device_metric("clock_video_mhz"), device_metric("clock_max_video_mhz")},
    LimitRow{device_metric("pcie_link_generation"), device_metric("pcie_link_generation_max")},
    LimitRow{device_metric("pcie_link_width"), device_metric("pcie_link_width_max")},
};
static_assert(std::ranges::all_of(kLimits, [](const LimitRow &row) {
  return key_of(row.metric).unit == key_of(row.limit).unit;
}));

}  // namespace

std::optional<MetricId> limit_of(MetricId id) {
  const auto *const found = std::ranges::find(kLimits, id, &LimitRow::metric);
  return found == kLimits.end() ? std::nullopt : std::optional(found->limit);
}

}  // namespace gpulse

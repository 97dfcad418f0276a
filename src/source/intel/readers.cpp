// SPDX-License-Identifier: Apache-2.0
#include "source/intel/readers.hpp"

#include <array>

#include "source/intel/reader_calls.hpp"

namespace gpulse::intel {

namespace {

constexpr auto kUse = device_metric("gpu_utilization_percent");
constexpr auto kUsed = device_metric("memory_used_bytes");
constexpr auto kTotal = device_metric("memory_total_bytes");
constexpr auto kVramUsed = device_metric("memory_vram_used_bytes");
constexpr auto kVramTotal = device_metric("memory_vram_total_bytes");
constexpr auto kGttUsed = device_metric("memory_gtt_used_bytes");
constexpr auto kClock = device_metric("clock_graphics_mhz");
constexpr auto kHighestClock = device_metric("clock_max_graphics_mhz");

constexpr std::array kClocks{kClock, device_metric("clock_video_mhz"), device_metric("clock_requested_mhz")};
constexpr std::array kHighestClocks{kHighestClock, device_metric("clock_max_video_mhz")};
constexpr std::array kIdle{device_metric("awake_percent"), device_metric("media_awake_percent"), kUse};
constexpr std::array kThrottle{device_metric("throttle_reasons")};
constexpr std::array kEnergy{device_metric("power_draw_watts"), device_metric("package_power_watts"),
                             device_metric("energy_joules")};
constexpr std::array kLimits{device_metric("power_limit_watts"), device_metric("power_limit_default_watts"),
                             device_metric("power_limit_fast_watts")};
constexpr std::array kSensors{device_metric("temperature_gpu_celsius"), device_metric("temperature_memory_celsius"),
                              device_metric("voltage_graphics_volts")};
constexpr std::array kFixed{device_metric("temperature_gpu_max_celsius"), device_metric("temperature_slowdown_celsius"),
                            device_metric("temperature_shutdown_celsius"),
                            device_metric("temperature_memory_max_celsius")};
constexpr std::array kFans{device_metric("fan_speed_rpm"), device_metric("fan_count")};
constexpr auto kClients = [] {
  std::array<MetricId, drm::kClientMetrics.size() + 4> all{};
  std::copy(drm::kClientMetrics.begin(), drm::kClientMetrics.end(), all.begin());
  all[drm::kClientMetrics.size()] = kUse;
  all[drm::kClientMetrics.size() + 1] = kUsed;
  all[drm::kClientMetrics.size() + 2] = kVramUsed;
  all[drm::kClientMetrics.size() + 3] = kGttUsed;
  return all;
}();
constexpr std::array kSize{kTotal, kVramTotal};
constexpr std::array kByDriver{kTotal, kVramTotal, kUsed, kVramUsed, device_metric("memory_free_bytes")};
constexpr std::array kNumaNode{device_metric("numa_node")};
constexpr std::array kNpuUse{kUse};
constexpr std::array kNpuMemory{kUsed, kGttUsed};
constexpr std::array kNpuClock{kClock, kHighestClock};

// The order matters: whether it is asleep comes first, since reading the rest could wake it; performance counters come
// after the clients, because they know more.
constexpr std::array kReaders{
    Reader{{.call = "power/runtime_status", .fills = {}}, read_sleep},
    Reader{{.call = "gt clocks", .fills = kClocks}, read_clocks},
    Reader{{.call = "gt highest clocks", .tier = Tier::once, .fills = kHighestClocks}, read_highest_clocks},
    Reader{{.call = "gt idle residency", .differential = true, .fills = kIdle}, read_idle},
    Reader{{.call = "gt throttle reasons", .fills = kThrottle}, read_throttle},
    Reader{{.call = "hwmon energy", .differential = true, .fills = kEnergy}, read_energy},
    Reader{{.call = "hwmon power limits", .tier = Tier::second, .fills = kLimits}, read_power_limits},
    Reader{{.call = "hwmon temperatures", .fills = kSensors}, read_sensors},
    Reader{{.call = "hwmon temperature limits", .tier = Tier::once, .fills = kFixed}, read_fixed_sensors},
    Reader{{.call = "hwmon fans", .fills = kFans}, read_fans},
    Reader{{.call = "/proc/*/fdinfo", .differential = true, .extra = true, .fills = kClients}, read_clients},
    Reader{{.call = "/proc/*/fd", .tier = Tier::slow, .extra = true, .fills = {}}, scan_processes},
    Reader{{.call = "perf counters", .differential = true, .extra = true, .fills = drm::kEngineMetrics},
           read_pmu_engines},
    Reader{{.call = "dmem.capacity", .tier = Tier::slow, .fills = kSize}, read_memory_size},
    Reader{{.call = "memory regions", .tier = Tier::second, .extra = true, .fills = kByDriver}, read_memory_by_driver},
    Reader{{.call = "PCIe link", .tier = Tier::second, .fills = drm::kPcieLinkMetrics}, read_link},
    Reader{{.call = "PCIe errors", .tier = Tier::slow, .fills = drm::kPcieErrorMetrics}, read_link_errors},
    Reader{{.call = "numa_node", .tier = Tier::once, .fills = kNumaNode}, read_numa_node},
    Reader{{.call = "npu_busy_time_us", .differential = true, .fills = kNpuUse}, read_npu_use},
    Reader{{.call = "npu_memory_utilization", .fills = kNpuMemory}, read_npu_memory},
    Reader{{.call = "npu frequency", .fills = kNpuClock}, read_npu_clock},
};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

}  // namespace gpulse::intel

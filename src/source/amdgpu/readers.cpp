// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/readers.hpp"

#include <array>

#include "source/amdgpu/reader_calls.hpp"

namespace gpulse::amdgpu {

namespace {

template <MetricId... Ids>
constexpr std::array kList{Ids...};

constexpr double kMicro = 1e-6, kMilli = 1e-3;

// A row for one file of the device that holds one number.
template <MetricId... Ids>
constexpr Reader file(std::string_view name, Tier tier) {
  // The call is named after the file, without the leading slash.
  return {.info = {.call = name.substr(1), .tier = tier, .fills = kList<Ids...>}, .read = read_number, .file = name};
}

// A row for one number of a sensor.
template <MetricId... Ids>
constexpr Reader sensor(std::string_view call, Tier tier, Sensor which, std::string_view suffix, double scale) {
  return {.info = {.call = call, .tier = tier, .fills = kList<Ids...>},
          .read = read_number,
          .sensor = which,
          .file = suffix,
          .scale = scale};
}

template <MetricId... Ids>
constexpr Reader levels(std::string_view name, Sensor measured) {
  return {.info = {.call = name.substr(1), .tier = Tier::second, .fills = kList<Ids...>},
          .read = read_levels,
          .sensor = measured,
          .file = name};
}

constexpr std::array kTableMetrics{
    device_metric("temperature_gpu_celsius"),
    device_metric("temperature_hotspot_celsius"),
    device_metric("temperature_memory_celsius"),
    device_metric("temperature_soc_celsius"),
    device_metric("temperature_vr_graphics_celsius"),
    device_metric("temperature_vr_soc_celsius"),
    device_metric("temperature_vr_memory_celsius"),
    device_metric("gpu_utilization_percent"),
    device_metric("memory_utilization_percent"),
    device_metric("video_utilization_percent"),
    device_metric("jpeg_utilization_percent"),
    device_metric("clock_graphics_mhz"),
    device_metric("clock_memory_mhz"),
    device_metric("clock_soc_mhz"),
    device_metric("clock_fabric_mhz"),
    device_metric("clock_video_mhz"),
    device_metric("voltage_graphics_volts"),
    device_metric("voltage_soc_volts"),
    device_metric("voltage_memory_volts"),
    device_metric("fan_speed_rpm"),
    device_metric("pcie_replay_total"),
    device_metric("power_draw_watts"),
    device_metric("package_power_watts"),
    device_metric("energy_joules"),
    device_metric("throttle_reasons"),
    device_metric("throttled_power_percent"),
    device_metric("throttled_thermal_percent"),
    device_metric("xgmi_read_bytes_per_second"),
    device_metric("xgmi_write_bytes_per_second"),
};

constexpr std::array kMemoryMetrics{
    device_metric("memory_used_bytes"),          device_metric("memory_total_bytes"),
    device_metric("memory_free_bytes"),          device_metric("memory_vram_used_bytes"),
    device_metric("memory_vram_total_bytes"),    device_metric("memory_gtt_used_bytes"),
    device_metric("memory_gtt_total_bytes"),     device_metric("memory_visible_used_bytes"),
    device_metric("memory_visible_total_bytes"),
};

// The order matters: whether it is asleep comes first, since reading the rest could wake it; and where several rows
// fill a metric, clients come before files, and files before gpu_metrics.
constexpr std::array kReaders{
    Reader{.info = {.call = "power/runtime_status", .fills = {}}, .read = read_sleep},
    Reader{.info = {.call = "/proc/*/fdinfo", .differential = true, .extra = true, .fills = drm::kClientMetrics},
           .read = read_processes},
    Reader{.info = {.call = "/proc/*/fd", .tier = Tier::slow, .extra = true, .fills = {}}, .read = scan_processes},
    file<device_metric("gpu_utilization_percent")>("/gpu_busy_percent", Tier::tick),
    file<device_metric("memory_utilization_percent")>("/mem_busy_percent", Tier::tick),
    file<device_metric("video_utilization_percent")>("/vcn_busy_percent", Tier::tick),
    Reader{.info = {.call = "mem_info_*", .fills = kMemoryMetrics}, .read = read_memory},
    sensor<device_metric("temperature_gpu_celsius")>("hwmon/temp1_input", Tier::tick, Sensor::die, "_input", kMilli),
    sensor<device_metric("temperature_hotspot_celsius")>("hwmon/temp2_input", Tier::tick, Sensor::hotspot, "_input",
                                                         kMilli),
    sensor<device_metric("temperature_memory_celsius")>("hwmon/temp3_input", Tier::tick, Sensor::memory, "_input",
                                                        kMilli),
    Reader{.info = {.call = "hwmon/power1_average",
                    .fills = kList<device_metric("power_draw_watts"), device_metric("power_average_watts"),
                                   device_metric("power_instant_watts")>},
           .read = read_power},
    sensor<device_metric("clock_graphics_mhz")>("hwmon/freq1_input", Tier::tick, Sensor::sclk, "_input", kMicro),
    sensor<device_metric("clock_memory_mhz")>("hwmon/freq2_input", Tier::tick, Sensor::mclk, "_input", kMicro),
    sensor<device_metric("voltage_graphics_volts")>("hwmon/in0_input", Tier::tick, Sensor::graphics, "_input", kMilli),
    sensor<device_metric("voltage_soc_volts")>("hwmon/in1_input", Tier::tick, Sensor::soc, "_input", kMilli),
    Reader{.info = {.call = "hwmon/fan1_input",
                    .fills = kList<device_metric("fan_speed_rpm"), device_metric("fan_speed_percent"),
                                   device_metric("fan_count")>},
           .read = read_fan},
    levels<device_metric("clock_graphics_mhz"), device_metric("clock_max_graphics_mhz")>("/pp_dpm_sclk", Sensor::sclk),
    levels<device_metric("clock_memory_mhz"), device_metric("clock_max_memory_mhz")>("/pp_dpm_mclk", Sensor::mclk),
    levels<device_metric("clock_soc_mhz")>("/pp_dpm_socclk", Sensor::none),
    levels<device_metric("clock_fabric_mhz")>("/pp_dpm_fclk", Sensor::none),
    levels<device_metric("clock_video_mhz"), device_metric("clock_max_video_mhz")>("/pp_dpm_vclk", Sensor::none),
    sensor<device_metric("power_limit_watts")>("hwmon/power1_cap", Tier::second, Sensor::power, "_cap", kMicro),
    sensor<device_metric("power_limit_fast_watts")>("hwmon/power2_cap", Tier::second, Sensor::fast_power, "_cap",
                                                    kMicro),
    sensor<device_metric("power_limit_default_watts")>("hwmon/power1_cap_default", Tier::once, Sensor::power,
                                                       "_cap_default", kMicro),
    sensor<device_metric("power_limit_min_watts")>("hwmon/power1_cap_min", Tier::once, Sensor::power, "_cap_min",
                                                   kMicro),
    sensor<device_metric("power_limit_max_watts")>("hwmon/power1_cap_max", Tier::once, Sensor::power, "_cap_max",
                                                   kMicro),
    sensor<device_metric("temperature_slowdown_celsius")>("hwmon/temp1_crit", Tier::once, Sensor::die, "_crit", kMilli),
    sensor<device_metric("temperature_shutdown_celsius")>("hwmon/temp1_emergency", Tier::once, Sensor::die,
                                                          "_emergency", kMilli),
    sensor<device_metric("temperature_hotspot_max_celsius")>("hwmon/temp2_crit", Tier::once, Sensor::hotspot, "_crit",
                                                             kMilli),
    sensor<device_metric("temperature_memory_max_celsius")>("hwmon/temp3_crit", Tier::once, Sensor::memory, "_crit",
                                                            kMilli),
    file<device_metric("pcie_replay_total")>("/pcie_replay_count", Tier::slow),
    Reader{.info = {.call = "numa_node", .tier = Tier::once, .fills = kList<device_metric("numa_node")>},
           .read = read_numa_node},
    Reader{.info = {.call = "power_dpm_force_performance_level",
                    .tier = Tier::second,
                    .fills = kList<device_metric("performance_level")>},
           .read = read_level,
           .file = "/power_dpm_force_performance_level"},
    Reader{.info = {.call = "gpu_metrics", .differential = true, .fills = kTableMetrics},
           .read = read_table,
           .file = "/gpu_metrics"},
    Reader{.info = {.call = "gpu_metrics of the whole", .fills = kList<device_metric("gpu_utilization_percent")>},
           .read = read_partition},
    Reader{.info = {.call = "kfd/topology", .tier = Tier::once, .fills = kList<device_metric("multiprocessor_count")>},
           .read = read_units},
    Reader{.info = {.call = "current_link_speed", .tier = Tier::second, .fills = drm::kPcieLinkMetrics},
           .read = read_link},
    Reader{.info = {.call = "aer_dev_*", .tier = Tier::slow, .extra = true, .fills = drm::kPcieErrorMetrics},
           .read = read_link_errors},
    Reader{
        .info = {.call = "pcie_bw",
                 .tier = Tier::second,
                 .extra = true,
                 .fills = kList<device_metric("pcie_rx_bytes_per_second"), device_metric("pcie_tx_bytes_per_second")>},
        .read = read_bandwidth},
    Reader{.info = {.call = "ras/*_err_count",
                    .tier = Tier::slow,
                    .extra = true,
                    .fills = kList<device_metric("ecc_corrected_volatile_total"),
                                   device_metric("ecc_uncorrected_volatile_total"),
                                   device_metric("ecc_dram_corrected_volatile_total"),
                                   device_metric("ecc_dram_uncorrected_volatile_total")>},
           .read = read_errors},
};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

}  // namespace gpulse::amdgpu

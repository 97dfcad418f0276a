// SPDX-License-Identifier: Apache-2.0
// Test support: scenarios for the simulator, and samples taken from it by the real source and sampler.
#pragma once

#include <filesystem>
#include <string>
#include <thread>

#include "sample/sampler.hpp"
#include "sim/testing/sim_library.hpp"
#include "source/nvml/gpm.hpp"
#include "source/nvml/library.hpp"
#include "source/nvml/nvml_source.hpp"

namespace gpulse::test {

using namespace std::chrono_literals;

inline void sim_fault(const std::string &call, int device, int code) {
  sim::library().call<void>("gpulse_sim_fault", call.c_str(), device, code);
}
inline void sim_clear() { sim::library().call<void>("gpulse_sim_clear"); }
inline void sim_release() { sim::library().call<void>("gpulse_sim_release"); }
inline void sim_time(double seconds) { sim::library().call<void>("gpulse_sim_set_time", seconds); }
inline unsigned long sim_calls(const std::string &call) {
  return sim::library().call<unsigned long>("gpulse_sim_calls", call.c_str());
}
inline void sim_load(const std::string &toml) {
  ASSERT_EQ(sim::library().call<int>("gpulse_sim_load", toml.c_str()), 0)
      << sim::library().call<const char *>("gpulse_sim_error");
}

// A root folder without /proc and /sys, so that nothing of the machine that runs the test gets in.
inline Sysroot empty_root() {
  const auto folder = std::filesystem::temp_directory_path() / "gpulse-empty-root";
  std::filesystem::create_directories(folder);
  return Sysroot(folder.string());
}

// Deadlines that even a busy machine meets, and no rediscovery in between.
inline RunnerOptions patient() {
  return {.call_deadline = 60s, .discover_deadline = 60s, .retry = 60s, .check = 1h, .tick = 1s};
}

inline std::unique_ptr<Sampler> make_sampler(const RunnerOptions &options, bool events = false,
                                             const Sysroot &root = empty_root()) {
  std::vector<std::shared_ptr<Source>> sources{nvml::make_source(root, SourceOptions{.texts = true, .events = events})};
  return std::make_unique<Sampler>(std::move(sources), root, options);
}

// All metrics that a command could ask for, including details.
inline MetricSet everything() {
  MetricSet all;
  for (const auto scope : {Scope::device, Scope::process, Scope::detail, Scope::host, Scope::core}) {
    for_each_metric(scope, [&](MetricId id, const Metric &) { all.add(id); });
  }
  return all;
}

inline std::unique_ptr<Sampler> make_sampler_of(const MetricSet &only, RunnerOptions options, bool events = false,
                                                const Sysroot &root = empty_root()) {
  options.only = only;
  std::vector<std::shared_ptr<Source>> sources{nvml::make_source(root, SourceOptions{.only = only, .events = events})};
  return std::make_unique<Sampler>(std::move(sources), root, options);
}

inline const Device *device_at(const Snapshot &snapshot, std::uint32_t index) {
  for (const auto &device : snapshot.devices) {
    if (device.id == DeviceId{index}) return &device;
  }
  return nullptr;
}

// A device that answers every call of the source. Two devices should differ, so that a mix-up shows. Without link
// counters the driver is asked for the throughput, and there is no wait between two readings of them.
inline std::string full_device(int temperature, int power, bool linked = true) {
  return "[[device]]\nprofile = \"h100\"\ntemperature = " + std::to_string(temperature) +
         "\npower_w = " + std::to_string(power) + (linked ? "" : "\nnvlink_links = \"not supported\"") + R"(
fans = 2
fan_speed = 46
fan_rpm = 1450
threshold_shutdown = 95
threshold_slowdown = 92
threshold_memory_max = 90
threshold_gpu_max = 85
retired_sbe = 3
retired_dbe = 1
retired_pending = 0
pcie_tx_kbs = 0
pcie_rx_kbs = 0
pcie_tx_bytes = "not supported"
pcie_rx_bytes = "not supported"
nvlink_tx_kibs = 0
nvlink_rx_kibs = 0
encoder_sessions = 1
encoder_fps = 60
encoder_latency_us = 4100
pdi = "0x1234"
hostname = "node-7"
inforom_power = "3.3"
inforom_valid = 1
flush_time_s = 1700000123
flush_duration_us = 4500
numa_node = 4
platform_slot = 1
platform_tray = 2
platform_host = 3
platform_peer_type = 1
platform_module = 4
display_mode = 1
addressing_mode = 1
operation_mode = 0
operation_mode_pending = 1
c2c_mode = 1
capability_mask = 1
dram_encryption = 1
dram_encryption_pending = 0
auto_boost = 1
auto_boost_default = 0
workload_requested = 3
workload_enforced = 1
fbc_sessions = 2
remapped_corrected_inactive = 1
remapped_uncorrected_inactive = 2
repair_channel = 1
repair_tpc = 1
memory_unrepairable = 1
threshold_acoustic_min = 65
threshold_acoustic_current = 83
threshold_acoustic_max = 90
module_power_limit_w = 1000
fabric_state = 3
fabric_status = 0
fabric_clique = 1
fabric_health = 2
fabric_summary = 1
accounting_mode = 1
accounted = [{ pid = 77, gpu = 40, memory = 12, memory_mib = 900, seconds = 31.5 }]
supported_memory_clocks = [3201, 2201]
supported_graphics_clocks = [1980, 1965]
protected_total_mib = 10
protected_used_mib = 1
module_id = 3
)";
}

inline std::string full_processes() {
  std::string all;
  for (int device = 0; device < 2; ++device) {
    const auto number = std::to_string(device);
    all += "[[process]]\ndevice = " + number + "\npid = " + std::to_string(700 + device) +
           "\nmemory_mib = 1000\nsm = 33\nmemory_util = 12\n";
    all += "[[process]]\ndevice = " + number + "\npid = " + std::to_string(800 + device) +
           "\ntype = \"graphics\"\nmemory_mib = 20\n";
    all += "[[process]]\ndevice = " + number + "\npid = " + std::to_string(900 + device) +
           "\ntype = \"mps\"\nmemory_mib = 30\n";
  }
  return all;
}

// Variants of the driver: each function that the source may call is called in at least one of them.
enum class Form { newest, older, wide_rows, split };
inline constexpr std::array kForms{Form::newest, Form::older, Form::wide_rows, Form::split};

inline std::string scenario(Form form) {
  const bool linked = form == Form::newest;
  const auto devices = full_device(58, 612, linked) + full_device(61, 433, linked);
  switch (form) {
    case Form::newest:
      break;
    case Form::older:
      return R"([driver]
missing = ["nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetPciInfo_v3",
  "nvmlSystemGetCudaDriverVersion_v2", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetTemperatureV",
  "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetSupportedClocksEventReasons", "nvmlDeviceGetFanSpeed_v2",
  "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses_v2",
  "nvmlDeviceGetMPSComputeRunningProcesses_v2", "nvmlDeviceGetProcessesUtilizationInfo", "nvmlEventSetWait_v2",
  "nvmlGpmQueryDeviceSupport"]
)" + devices +
             full_processes();
    case Form::wide_rows:
      return R"([driver]
process_v3_row_bytes = 32
missing = ["nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses_v2",
  "nvmlDeviceGetMPSComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses",
  "nvmlDeviceGetGraphicsRunningProcesses", "nvmlDeviceGetMPSComputeRunningProcesses", "nvmlDeviceGetPciInfo_v3",
  "nvmlDeviceGetPciInfo_v2"]
)" + devices +
             full_processes();
    case Form::split:
      return "[[device]]\nprofile = \"h100-mig\"\n" + full_device(61, 433) +
             "[[process]]\ndevice = 0\npid = 700\nmemory_mib = 1000\ngi = 1\nci = 0\n"
             "[[process]]\ndevice = 1\npid = 701\nmemory_mib = 1000\nsm = 33\n";
  }
  return devices + full_processes();
}

// Every function the source may call.
inline std::vector<std::string> source_functions() {
  sim_load(scenario(Form::newest));
  std::vector<std::string> names;
  const auto api = nvml::load_library();
  EXPECT_TRUE(api.has_value());
  for (const auto &symbol : (*api)->resolver.symbols()) names.emplace_back(symbol.name);
  return names;
}

// Functions of the library as a whole: a fault in one of them concerns all devices.
inline bool of_the_library(const std::string &name) {
  for (const auto *start : {"nvmlSystem", "nvmlInit", "nvmlShutdown", "nvmlDeviceGetCount", "nvmlEventSet",
                            "nvmlGpmSampleAlloc", "nvmlGpmSampleFree"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

inline bool of_gpm(const std::string &name) { return name.starts_with("nvmlGpm"); }
// Fails only after a second GPM sample, which takes time.
inline bool needs_two_samples(const std::string &name) {
  return of_gpm(name) && name != "nvmlGpmQueryDeviceSupport" && name != "nvmlGpmSampleFree";
}
inline bool of_events(const std::string &name) {
  return name.starts_with("nvmlEventSet") || name == "nvmlDeviceRegisterEvents" ||
         name == "nvmlDeviceGetSupportedEventTypes";
}

// Reads everything twice, one second of the scenario apart. GPM needs 100 ms of real time between its samples: without
// `gpm` there is no wait, and readings that a slow machine might get anyway are masked. So are shares of real time of
// what the scenario counts in its own.
inline SnapshotPtr observe(Sampler &sampler, bool gpm) {
  sim_time(1000);
  sampler.sample(Pass::everything);
  if (gpm) std::this_thread::sleep_for(100ms);
  sim_time(1001);
  const auto seen = sampler.sample(Pass::everything);
  auto masked = std::make_shared<Snapshot>(*seen);
  for (auto &device : masked->devices) {
    for (const auto id : {device_metric("throttled_power_percent"), device_metric("throttled_thermal_percent")}) {
      auto &reading = device.row[id];
      if (reading.has_value() || reading.is(Reason::out_of_range)) reading = 100.0;
    }
    if (gpm) continue;
    for (const auto id : nvml::gpm_metrics()) {
      auto &reading = device.row[id];
      if (reading.has_value() || reading.is(Reason::not_supported)) reading = Reason::not_sampled;
    }
  }
  return masked;
}

}  // namespace gpulse::test

// SPDX-License-Identifier: Apache-2.0
// Every function the source calls × every code the driver may answer, on one of two devices: the reason is right, no
// number is wrong, and the other device does not notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "sim/testing/sim_machine.hpp"

namespace gpulse::test {
namespace {

// Without 0, which is no fault; 77 is a code that does not exist.
std::vector<int> all_codes() {
  std::vector<int> codes;
  for (int code = 0; code <= 30; ++code) codes.push_back(code);
  codes.push_back(77);
  codes.push_back(999);
  return codes;
}

// What a reading shows for a code.
Reading reason_for(int code) {
  switch (code) {
    case 2:
    case 3:
    case 13:
    case 25:
      return Reason::not_supported;
    case 26:
      return Reason::deprecated;
    case 4:
    case 17:
      return Reason::no_permission;
    case 15:
      return Reason::lost;
    case 16:
      return Reason::reset_required;
    case 21:
    case 27:
      return Reason::not_sampled;
    default:
      return {Reason::error, static_cast<std::uint16_t>(code)};
  }
}

bool older_may_answer(int code) { return reason_for(code).is(Reason::not_supported) || code == 26; }
bool ends_the_session(int code) { return code == 1 || code == 9 || code == 18; }

// Which metrics a function fills, and whether an older one answers in its place.
struct Feeds {
  std::vector<std::string_view> metrics;
  bool has_older = false;
};

const std::map<std::string_view, Feeds> kFeeds{
    {"nvmlDeviceGetMemoryInfo_v2", {{"memory_used_bytes", "memory_total_bytes", "memory_free_bytes"}, true}},
    {"nvmlDeviceGetMemoryInfo", {{"memory_used_bytes", "memory_total_bytes", "memory_free_bytes"}}},
    {"nvmlDeviceGetBAR1MemoryInfo", {{"bar1_used_bytes", "bar1_total_bytes"}}},
    {"nvmlDeviceGetUtilizationRates", {{"gpu_utilization_percent", "memory_utilization_percent"}}},
    {"nvmlDeviceGetEncoderUtilization", {{"encoder_utilization_percent"}}},
    {"nvmlDeviceGetDecoderUtilization", {{"decoder_utilization_percent"}}},
    {"nvmlDeviceGetJpgUtilization", {{"jpeg_utilization_percent"}}},
    {"nvmlDeviceGetOfaUtilization", {{"ofa_utilization_percent"}}},
    {"nvmlDeviceGetEncoderStats", {{"encoder_sessions", "encoder_average_fps", "encoder_latency_seconds"}}},
    {"nvmlDeviceGetClockInfo", {{"clock_graphics_mhz", "clock_sm_mhz", "clock_memory_mhz", "clock_video_mhz"}}},
    {"nvmlDeviceGetMaxClockInfo",
     {{"clock_max_graphics_mhz", "clock_max_sm_mhz", "clock_max_memory_mhz", "clock_max_video_mhz"}}},
    {"nvmlDeviceGetMaxCustomerBoostClock", {{"clock_max_boost_mhz"}}},
    {"nvmlDeviceGetApplicationsClock", {{"clock_application_graphics_mhz", "clock_application_memory_mhz"}}},
    {"nvmlDeviceGetPerformanceState", {{"performance_state"}}},
    {"nvmlDeviceGetCurrentClocksEventReasons", {{"throttle_reasons"}, true}},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", {{"throttle_reasons"}}},
    {"nvmlDeviceGetPowerUsage", {{"power_draw_watts"}}},
    {"nvmlDeviceGetEnforcedPowerLimit", {{"power_limit_watts"}}},
    {"nvmlDeviceGetPowerManagementLimit", {{"power_limit_requested_watts"}}},
    {"nvmlDeviceGetPowerManagementDefaultLimit", {{"power_limit_default_watts"}}},
    {"nvmlDeviceGetPowerManagementLimitConstraints", {{"power_limit_min_watts", "power_limit_max_watts"}}},
    {"nvmlDeviceGetTotalEnergyConsumption", {{"energy_joules"}}},
    {"nvmlDeviceGetPowerSource", {{"power_source"}}},
    {"nvmlDeviceGetTemperatureV", {{"temperature_gpu_celsius"}, true}},
    {"nvmlDeviceGetTemperature", {{"temperature_gpu_celsius"}}},
    {"nvmlDeviceGetTemperatureThreshold",
     {{"temperature_shutdown_celsius", "temperature_slowdown_celsius", "temperature_memory_max_celsius",
       "temperature_gpu_max_celsius"}}},
    {"nvmlDeviceGetMarginTemperature", {{"temperature_margin_celsius"}}},
    {"nvmlDeviceGetNumFans", {{"fan_count"}}},
    {"nvmlDeviceGetFanSpeed_v2", {{"fan_speed_percent"}, true}},
    {"nvmlDeviceGetFanSpeed", {{"fan_speed_percent"}}},
    {"nvmlDeviceGetFanSpeedRPM", {{"fan_speed_rpm"}}},
    {"nvmlDeviceGetCurrPcieLinkGeneration", {{"pcie_link_generation"}}},
    {"nvmlDeviceGetCurrPcieLinkWidth", {{"pcie_link_width"}}},
    {"nvmlDeviceGetMaxPcieLinkGeneration", {{"pcie_link_generation_max"}}},
    {"nvmlDeviceGetMaxPcieLinkWidth", {{"pcie_link_width_max"}}},
    {"nvmlDeviceGetGpuMaxPcieLinkGeneration", {{"pcie_link_generation_device_max"}}},
    {"nvmlDeviceGetPcieReplayCounter", {{"pcie_replay_total"}}},
    {"nvmlDeviceGetNvLinkState", {{"nvlink_links_active"}}},
    {"nvmlDeviceGetEccMode", {{"ecc_mode", "ecc_mode_pending"}}},
    {"nvmlDeviceGetTotalEccErrors",
     {{"ecc_corrected_total", "ecc_uncorrected_total", "ecc_corrected_volatile_total",
       "ecc_uncorrected_volatile_total"}}},
    {"nvmlDeviceGetMemoryErrorCounter",
     {{"ecc_dram_corrected_total", "ecc_dram_uncorrected_total", "ecc_sram_corrected_total",
       "ecc_sram_uncorrected_total"}}},
    {"nvmlDeviceGetSramEccErrorStatus", {{"ecc_sram_threshold_exceeded"}}},
    {"nvmlDeviceGetRetiredPages", {{"retired_pages_single_bit_total", "retired_pages_double_bit_total"}}},
    {"nvmlDeviceGetRetiredPagesPendingStatus", {{"retired_pages_pending"}}},
    {"nvmlDeviceGetRemappedRows",
     {{"remapped_rows_corrected_total", "remapped_rows_uncorrected_total", "remapped_rows_pending",
       "remapped_rows_failure"}}},
    {"nvmlDeviceGetRowRemapperHistogram",
     {{"remapped_banks_max", "remapped_banks_high", "remapped_banks_partial", "remapped_banks_low",
       "remapped_banks_none"}}},
    {"nvmlDeviceGetComputeMode", {{"compute_mode"}}},
    {"nvmlDeviceGetPersistenceMode", {{"persistence_mode"}}},
    {"nvmlDeviceGetDisplayActive", {{"display_active"}}},
    {"nvmlDeviceGetAccountingMode", {{"accounting_mode"}}},
    {"nvmlDeviceGetVirtualizationMode", {{"virtualization_mode"}}},
    {"nvmlDeviceGetMinorNumber", {{"minor_number"}}},
    {"nvmlDeviceGetNumGpuCores", {{"cuda_core_count"}}},
    {"nvmlDeviceGetMemoryBusWidth", {{"memory_bus_width_bits"}}},
    {"nvmlDeviceGetFieldValues",
     {{"power_instant_watts", "power_average_watts", "temperature_memory_celsius", "throttled_power_seconds",
       "temperature_margin_shutdown_celsius", "recovery_action"}}},
    {"nvmlGpmSampleGet", {{"sm_active_percent", "dram_active_percent", "pcie_tx_bytes_per_second"}}},
    {"nvmlGpmMetricsGet", {{"sm_active_percent", "dram_active_percent", "pcie_tx_bytes_per_second"}}},
    {"nvmlGpmSampleAlloc", {{"sm_active_percent", "dram_active_percent", "pcie_tx_bytes_per_second"}}},
    {"nvmlDeviceGetSamples", {{"power_peak_watts", "gpu_utilization_mean_percent"}}},
};

// As kFeeds, for details.
const std::map<std::string_view, Feeds> kDetailFeeds{
    {"nvmlDeviceGetPciInfo_v3", {{"pci_device_id", "pci_subsystem_id"}, true}},
    {"nvmlDeviceGetPciInfoExt", {{"pci_base_class", "pci_sub_class"}}},
    {"nvmlDeviceGetBoardId", {{"board_id"}}},
    {"nvmlDeviceGetMultiGpuBoard", {{"multi_gpu_board"}}},
    {"nvmlDeviceGetModuleId", {{"module_id"}}},
    {"nvmlDeviceGetNumaNodeId", {{"gpu_numa_node"}}},
    {"nvmlDeviceGetPlatformInfo",
     {{"platform_slot", "platform_tray", "platform_host", "platform_peer_type", "platform_module"}}},
    {"nvmlDeviceGetDisplayMode", {{"display_attached"}}},
    {"nvmlDeviceGetAddressingMode", {{"addressing_mode"}}},
    {"nvmlDeviceGetAccountingBufferSize", {{"accounting_buffer_size"}}},
    {"nvmlDeviceGetGpuOperationMode", {{"operation_mode", "operation_mode_pending"}}},
    {"nvmlDeviceGetGspFirmwareMode", {{"gsp_mode", "gsp_mode_default"}}},
    {"nvmlDeviceGetC2cModeInfoV", {{"c2c_mode"}}},
    {"nvmlDeviceGetCapabilities", {{"extended_memory"}}},
    {"nvmlDeviceGetPowerManagementMode", {{"power_management"}}},
    {"nvmlDeviceGetDramEncryptionMode", {{"dram_encryption", "dram_encryption_pending"}}},
    {"nvmlDeviceGetAutoBoostedClocksEnabled", {{"auto_boost", "auto_boost_default"}}},
    {"nvmlDeviceGetPcieThroughput", {{"pcie_throughput_tx_bytes_per_second", "pcie_throughput_rx_bytes_per_second"}}},
    {"nvmlDeviceGetFBCStats", {{"fbc_sessions", "fbc_average_fps", "fbc_latency_seconds"}}},
    {"nvmlDeviceGetConfComputeProtectedMemoryUsage",
     {{"protected_memory_total_bytes", "protected_memory_used_bytes", "protected_memory_free_bytes"}}},
    {"nvmlDeviceGetSupportedClocksEventReasons", {{"event_reasons_supported"}, true}},
    {"nvmlDeviceGetRemappedRows_v2",
     {{"remapped_rows_corrected_inactive_total", "remapped_rows_uncorrected_inactive_total"}}},
    {"nvmlDeviceGetRepairStatus", {{"repair_channel_pending", "repair_tpc_pending"}}},
    {"nvmlDeviceGetUnrepairableMemoryFlag_v1", {{"memory_unrepairable"}}},
    {"nvmlDeviceGetDefaultApplicationsClock", {{"clock_default_graphics_mhz", "clock_default_memory_mhz"}}},
    {"nvmlDeviceGetGpuFabricInfoV",
     {{"fabric_state", "fabric_status", "fabric_clique", "fabric_health", "fabric_health_summary"}}},
    {"nvmlDeviceGetSupportedMemoryClocks", {{"supported_clock_count"}}},
    {"nvmlDeviceGetSupportedGraphicsClocks", {{"supported_clock_count"}}},
    {"nvmlDeviceGetRetiredPages_v2", {{"retired_page_count"}, true}},
    {"nvmlDeviceGetAccountingPids", {{"accounted_process_count"}}},
    {"nvmlDeviceGetSamples", {{"sample_window_count"}}},
    {"nvmlDeviceGetNvLinkState", {{"link_count"}}},
    {"nvmlDeviceGetGpuInstanceProfileInfoV", {{"instance_profile_count"}}},
    {"nvmlDeviceGetTemperatureThreshold", {{"temperature_target_celsius"}}},
    {"nvmlDeviceGetSramEccErrorStatus", {{"ecc_sram_parity_total", "ecc_sram_in_l2_total"}}},
    {"nvmlDeviceGetFieldValues", {{"module_power_limit_requested_watts", "pcie_replay_rollover_total"}}},
};

std::string show(const Reading &reading) {
  return reading.has_value() ? std::to_string(reading.value()) : reason_text(reading);
}

// Limits that are read only when the margin to them is not available.
bool told_by_distance(std::string_view key, const Row &base) {
  static const std::map<std::string_view, MetricId> kDistances{
      {"temperature_shutdown_celsius", device_metric("temperature_margin_shutdown_celsius")},
      {"temperature_slowdown_celsius", device_metric("temperature_margin_slowdown_celsius")},
      {"temperature_memory_max_celsius", device_metric("temperature_margin_memory_max_celsius")},
      {"temperature_gpu_max_celsius", device_metric("temperature_margin_gpu_max_celsius")}};
  const auto found = kDistances.find(key);
  return base.scope() == Scope::device && found != kDistances.end() && base[found->second].has_value();
}

// What an older call may report instead.
bool other_answer(std::string_view key, const Row &row, const Row &base, MetricId id) {
  if (row.scope() != Scope::device) return false;
  // Without GPM the link counters are used: in these scenarios they stand still, and those of PCIe wrap too soon.
  if (key.ends_with("_bytes_per_second")) return row[id] == Reading(0.0) || row[id].is(Reason::not_sampled);
  if (!row[id].has_value()) return false;
  // The first memory call counts reserved memory as used.
  constexpr auto kReserved = device_metric("memory_reserved_bytes");
  if (key == "memory_used_bytes") {
    return row[kReserved].is(Reason::not_supported) && base[kReserved].has_value() && base[id].has_value() &&
           row[id].value() == base[id].value() + base[kReserved].value();
  }
  if (key == "memory_used_percent") {
    constexpr auto kUsed = device_metric("memory_used_bytes");
    return row[id].has_value() && other_answer("memory_used_bytes", row, base, kUsed);
  }
  return false;
}

// Each number is the same as without the fault, or replaced by the code's reason.
void check_rows(const Row &row, const Row &base, const Reading &expected) {
  for_each_metric(row.scope(), [&](MetricId id, const Metric &metric) {
    if (is_text(metric) || row[id] == base[id] || row[id] == expected) return;
    if (other_answer(metric.key, row, base, id) || told_by_distance(metric.key, base)) return;
    // An older function answers in place of a deprecated one, but not with everything.
    if (expected.is(Reason::deprecated) && row[id].is(Reason::not_supported)) return;
    ADD_FAILURE() << metric.key << " shows " << show(row[id]) << ", without the fault " << show(base[id]);
  });
}

void check_texts(const DeviceIdentity &now, const DeviceIdentity &base, const Reading &expected) {
  const TextReading reason(expected.reason(), expected.code());
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (!is_text(metric)) return;
    const auto &text = now.texts[id];
    // Without NVLink the PCIe path is left.
    const bool unknown_path =
        metric.key.ends_with("topology") && text && (text.value().contains('?') || text.value().contains("SYS"));
    if (text == base.texts[id] || text == reason || unknown_path) return;
    ADD_FAILURE() << metric.key << " shows " << text.value_or("a reason") << " instead of "
                  << base.texts[id].value_or("a reason");
  });
  EXPECT_TRUE(now.name == base.name || now.name == "NVIDIA GPU") << now.name;
  EXPECT_TRUE(now.uuid == base.uuid || now.uuid == "PCI-" + base.pci) << now.uuid;
  EXPECT_TRUE(now.pci == base.pci || now.pci.empty()) << now.pci;
}

// Codes that are regular answers of the function.
Reading detail_reason(std::string_view key, int code) {
  if (key == "inforom_valid" && code == 14) return 0.0;
  if (key.starts_with("inforom_flush") && code == 27) return Reason::not_supported;
  return reason_for(code);
}

void check_details(const std::string &name, int code, const DeviceDetails &now, const DeviceDetails &base) {
  for_each_metric(Scope::detail, [&](MetricId id, const Metric &metric) {
    const auto expected = code == 0 ? Reading(Reason::not_sampled) : detail_reason(metric.key, code);
    if (is_text(metric)) {
      const auto &text = now.texts[id];
      const bool refused = !text && text.reason() == expected.reason() && text.code() == expected.code();
      EXPECT_TRUE(text == base.texts[id] || refused) << metric.key << " shows " << text.value_or("a reason");
      return;
    }
    // The process has ended: the driver does not know it any more.
    const bool gone = metric.key == "accounted_process_count" && code == 6 && now.row[id].value_or(1) == 0;
    EXPECT_TRUE(now.row[id] == base.row[id] || now.row[id] == expected || gone)
        << metric.key << " shows " << show(now.row[id]) << ", without the fault " << show(base.row[id]);
  });
  const auto feeds = kDetailFeeds.find(name);
  if (feeds == kDetailFeeds.end()) return;
  for (const auto key : feeds->second.metrics) {
    const auto id = find_metric(Scope::detail, key);
    ASSERT_TRUE(id) << key;
    EXPECT_TRUE(base.row[*id].has_value()) << key << ": the device of the scenario does not have it";
    const bool answered = code == 0 || (feeds->second.has_older && older_may_answer(code));
    EXPECT_EQ(show(now.row[*id]), show(answered ? base.row[*id] : reason_for(code))) << key;
  }
}

// Processes may be missing when their list cannot be read, but none is invented and none has other numbers.
void check_processes(const Snapshot &now, const Snapshot &base, std::uint32_t device, const Reading &expected,
                     bool idle) {
  for (const auto &process : now.processes) {
    if (process.device != DeviceId{device}) continue;
    SCOPED_TRACE("pid " + std::to_string(process.pid));
    const auto same = std::find_if(base.processes.begin(), base.processes.end(), [&](const Process &p) {
      return p.device == process.device && p.pid == process.pid;
    });
    ASSERT_NE(same, base.processes.end());
    EXPECT_EQ(process.types, same->types);
    auto row = process.row;
    // "Nothing new" means that the process is idle.
    const auto busy = process_metric("gpu_utilization_percent");
    if (idle && row[busy] == Reading(0.0)) row = same->row;
    check_rows(row, same->row, expected);
  }
}

void check_same(const Snapshot &now, const Snapshot &base, std::uint32_t index) {
  const auto *device = device_at(now, index);
  const auto *before = device_at(base, index);
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->state, DeviceState::ok);
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (is_text(metric)) return;
    EXPECT_EQ(show(device->row[id]), show(before->row[id])) << metric.key << " of the other device";
  });
  EXPECT_EQ(device->identity->uuid, before->identity->uuid);
  const auto count = [&](const Snapshot &s) {
    return std::count_if(s.processes.begin(), s.processes.end(),
                         [&](const Process &p) { return p.device == DeviceId{index}; });
  };
  EXPECT_EQ(count(now), count(base));
}

class Matrix : public testing::Test {
 protected:
  struct Case {
    std::string function;
    int code;
  };

  static void SetUpTestSuite() {
    functions() = source_functions();
    for (const auto form : kForms) {
      sim_load(scenario(form));
      auto &base = baselines()[form];
      base.quick = observe(*make_sampler_of(everything(), patient()), false);
      base.gpm = observe(*make_sampler_of(everything(), patient()), true);
      base.events = observe(*make_sampler_of(everything(), patient(), true), false);
      for (const auto &name : functions()) {
        if (sim_calls(name) > 0) home().try_emplace(name, form);
      }
    }
  }
  void TearDown() override { sim_clear(); }

  struct Baseline {
    SnapshotPtr quick, gpm, events;
  };
  static std::vector<std::string> &functions() {
    static std::vector<std::string> names;
    return names;
  }
  static std::map<Form, Baseline> &baselines() {
    static std::map<Form, Baseline> all;
    return all;
  }
  // The variant of the driver in which the source calls the function.
  static std::map<std::string, Form> &home() {
    static std::map<std::string, Form> forms;
    return forms;
  }

  template <class Wanted>
  void for_each_case(Wanted wanted) {
    std::size_t cases = 0;
    for (const auto &[name, form] : home()) {
      if (!wanted(name)) continue;
      sim_load(scenario(form));
      for (const int code : all_codes()) {
        SCOPED_TRACE(name + " answers " + std::to_string(code));
        check(name, form, code);
        ++cases;
      }
    }
    RecordProperty("cases", static_cast<int>(cases));
    EXPECT_GT(cases, 0U);
  }

  static void check(const std::string &name, Form form, int code) {
    const bool everywhere = of_the_library(name) || of_events(name);
    const auto &bases = baselines()[form];
    const auto &base = needs_two_samples(name) ? *bases.gpm : of_events(name) ? *bases.events : *bases.quick;
    sim_clear();
    sim_fault(name, everywhere ? -1 : 0, code);
    auto sampler = make_sampler_of(everything(), patient(), of_events(name));
    const auto now = observe(*sampler, needs_two_samples(name));
    for (std::uint32_t index = 0; index < 2; ++index) {
      if (index == 1 && !everywhere) {
        check_same(*now, base, index);
      } else {
        check_device(name, code, *now, base, index);
      }
    }
    if (!ends_the_session(code)) {
      EXPECT_EQ(now->sources[0].problem, "");
    }
    sim_clear();
  }

  static void check_device(const std::string &name, int code, const Snapshot &now, const Snapshot &base,
                           std::uint32_t index) {
    const auto *device = device_at(now, index);
    const auto *before = device_at(base, index);
    ASSERT_NE(device, nullptr);
    // A lost GPU ends the event wait, but the driver does not say which one it was.
    const bool deaf = code == 15 && name.starts_with("nvmlEventSetWait");
    const auto expected = code == 0 || deaf ? Reading(Reason::not_sampled) : reason_for(code);
    if (device->state == DeviceState::lost) {
      EXPECT_EQ(code, 15);
      for (const auto &reading : device->row.readings()) EXPECT_EQ(reading, Reading(Reason::lost));
      return;
    }
    EXPECT_EQ(device->state, DeviceState::ok);
    // Samples and process use have a code for "nothing new".
    const bool nothing_new = code == 6 && (name == "nvmlDeviceGetSamples" || name.contains("Utilization"));
    auto row = device->row;
    // A driver without a list of graphics or MPS processes still counts the others.
    constexpr auto kCount = device_metric("process_count");
    if (older_may_answer(code) && (name.contains("Graphics") || name.contains("MPS")) && row[kCount] == Reading(2.0)) {
      row[kCount] = before->row[kCount];
    }
    check_rows(row, before->row, nothing_new && name.ends_with("Samples") ? Reason::not_sampled : expected);
    check_texts(*device->identity, *before->identity, expected);
    ASSERT_NE(device->details, nullptr);
    check_details(name, deaf ? 0 : code, *device->details, *before->details);
    check_processes(now, base, index, expected, nothing_new);
    const auto feeds = kFeeds.find(name);
    if (feeds == kFeeds.end()) return;
    for (const auto key : feeds->second.metrics) {
      const auto id = find_metric(Scope::device, key);
      ASSERT_TRUE(id) << key;
      const auto &old = before->row[*id];
      if (told_by_distance(key, before->row)) continue;
      EXPECT_TRUE(old.has_value()) << key << ": the device of the scenario does not have it: " << show(old);
      const bool answered = code == 0 || (feeds->second.has_older && older_may_answer(code));
      if (answered && other_answer(key, device->row, before->row, *id)) continue;
      const auto wanted = answered ? old : nothing_new && name.ends_with("Samples") ? Reason::not_sampled : expected;
      EXPECT_EQ(show(device->row[*id]), show(wanted)) << key;
    }
  }
};

// Functions whose failure concerns the whole driver, or that are tested below.
const std::set<std::string> kOnTheWayIn{"nvmlInit_v2",
                                        "nvmlInit",
                                        "nvmlShutdown",
                                        "nvmlDeviceGetCount_v2",
                                        "nvmlDeviceGetCount",
                                        "nvmlDeviceGetHandleByIndex_v2",
                                        "nvmlDeviceGetHandleByIndex",
                                        "nvmlDeviceGetHandleByPciBusId_v2",
                                        "nvmlDeviceGetHandleByPciBusId",
                                        "nvmlSystemGetDriverVersion",
                                        "nvmlSystemGetCudaDriverVersion_v2"};

TEST_F(Matrix, EveryFunctionIsCalledInSomeForm) {
  for (const auto &name : functions()) {
    if (kOnTheWayIn.contains(name)) continue;
    EXPECT_TRUE(home().contains(name)) << name << " is never called";
  }
}

// Each function missing on its own, as on an older driver: only what it fills is not supported.
TEST_F(Matrix, MissingFunctions) {
  const auto &base = *baselines()[Form::newest].quick;
  for (const auto &name : functions()) {
    SCOPED_TRACE(name + " is missing");
    sim_load("[driver]\nmissing = [\"" + name + "\"]\n" + scenario(Form::newest));
    const auto now = observe(*make_sampler_of(everything(), patient()), false);
    ASSERT_EQ(now->devices.size(), 2U);
    EXPECT_EQ(now->sources[0].problem, "");
    const bool fed = !name.starts_with("nvmlGpm") && home()[name] == Form::newest;
    if (fed) {
      check_device(name, 13, *now, base, 0);
      check_device(name, 13, *now, base, 1);
    } else {
      check_rows(now->devices[0].row, base.devices[0].row, Reason::not_supported);
    }
  }
}

TEST_F(Matrix, Readings) {
  for_each_case([](const std::string &name) {
    return !kOnTheWayIn.contains(name) && !of_gpm(name) && !of_events(name) && !name.contains("Mig") &&
           !name.contains("InstanceId");
  });
}

// A split device: a fault in the functions for instances affects at most the instances.
TEST_F(Matrix, Instances) {
  sim_load(scenario(Form::split));
  for (const auto *name : {"nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount", "nvmlGpmMigSampleGet",
                           "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetGpuInstanceId",
                           "nvmlDeviceGetComputeInstanceId", "nvmlDeviceGetAttributes_v2"}) {
    ASSERT_THAT(functions(), testing::Contains(name));
    const bool gpm = of_gpm(name);
    const auto &base = gpm ? *baselines()[Form::split].gpm : *baselines()[Form::split].quick;
    ASSERT_EQ(base.devices.size(), 5U);
    for (const int code : all_codes()) {
      SCOPED_TRACE(std::string(name) + " answers " + std::to_string(code));
      sim_clear();
      sim_fault(name, 0, code);
      const auto now = observe(*make_sampler_of(everything(), patient()), gpm);
      check_same(*now, base, 1);
      for (const auto &device : now->devices) {
        if (device.id.index == 1 || device.state == DeviceState::lost) continue;
        const auto same = std::find_if(base.devices.begin(), base.devices.end(),
                                       [&](const Device &d) { return d.identity->uuid == device.identity->uuid; });
        ASSERT_NE(same, base.devices.end());
        auto row = device.row;
        // Without the instances' ids processes cannot be assigned.
        row[device_metric("process_count")] = same->row[device_metric("process_count")];
        // Nor can GPM be read for an instance.
        if (name == std::string_view("nvmlDeviceGetGpuInstanceId")) {
          for (std::size_t i = 0; i < row.readings().size(); ++i) {
            if (row.readings()[i].is(Reason::not_supported)) row.readings()[i] = same->row.readings()[i];
          }
        }
        check_rows(row, same->row, code == 0 ? Reading(Reason::not_sampled) : reason_for(code));
      }
    }
  }
}

TEST_F(Matrix, Gpm) {
  for_each_case([](const std::string &name) { return of_gpm(name) && name != "nvmlGpmMigSampleGet"; });
}

TEST_F(Matrix, Events) {
  for_each_case([](const std::string &name) { return of_events(name); });
}

}  // namespace
}  // namespace gpulse::test

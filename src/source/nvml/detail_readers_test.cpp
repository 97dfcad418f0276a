// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/detail_readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/testing/sim_machine.hpp"
#include "source/nvml/fake_root.hpp"
#include "source/nvml/readers.hpp"

namespace gpulse::test {
namespace {

constexpr double kMib = 1048576;

class Details : public testing::Test {
 protected:
  void TearDown() override {
    sampler_.reset();
    sim_clear();
  }
  SnapshotPtr sample(const std::string &toml, const MetricSet &only) {
    sampler_.reset();
    sim_load(toml);
    sim_time(1000);
    sampler_ = make_sampler_of(only, patient(), false, root_.sysroot());
    return sampler_->sample(Pass::everything);
  }
  const DeviceDetails &details(const std::string &toml, const MetricSet &only = everything()) {
    last_ = sample(toml, only);
    EXPECT_EQ(last_->devices.size(), 1U);
    return *last_->devices[0].details;
  }

  FakeRoot root_;
  SnapshotPtr last_;
  std::unique_ptr<Sampler> sampler_;
};

const std::string kH200 = "[[device]]\nprofile = \"h200\"\n";

void expect_numbers(const Row &row, const std::vector<std::pair<MetricId, Reading>> &wanted) {
  for (const auto &[id, value] : wanted) {
    EXPECT_EQ(row[id].has_value() ? std::to_string(row[id].value()) : reason_text(row[id]),
              value.has_value() ? std::to_string(value.value()) : reason_text(value))
        << describe(id).key;
  }
}

// What an H200 with driver 580.159.04 answered to each call.
TEST_F(Details, OfAnH200) {
  const auto &all = details(kH200);
  expect_numbers(all.row, {{detail_metric("pci_device_id"), 0x233510DE},
                           {detail_metric("pci_subsystem_id"), 0x18BF10DE},
                           {detail_metric("pci_base_class"), 3},
                           {detail_metric("pci_sub_class"), 2},
                           {detail_metric("board_id"), 6},
                           {detail_metric("multi_gpu_board"), 0},
                           {detail_metric("module_id"), 6},
                           {detail_metric("inforom_valid"), 1},
                           {detail_metric("inforom_flush_time_seconds"), Reason::not_supported},
                           {detail_metric("gpu_numa_node"), Reason::not_supported},
                           {detail_metric("platform_slot"), 0},
                           {detail_metric("platform_host"), 1},
                           {detail_metric("platform_module"), 6},
                           {detail_metric("display_attached"), 1},
                           {detail_metric("addressing_mode"), 0},
                           {detail_metric("accounting_buffer_size"), 4000},
                           {detail_metric("operation_mode"), Reason::not_supported},
                           {detail_metric("gsp_mode"), 1},
                           {detail_metric("gsp_mode_default"), 1},
                           {detail_metric("c2c_mode"), 0},
                           {detail_metric("extended_memory"), 0},
                           {detail_metric("power_management"), 1},
                           {detail_metric("dram_encryption"), Reason::not_supported},
                           {detail_metric("auto_boost"), Reason::not_supported},
                           {detail_metric("pcie_link_generation_host_max"), Reason::not_supported},
                           {detail_metric("pcie_replay_rollover_total"), 0},
                           {detail_metric("pcie_atomics_outbound"), 0},
                           {detail_metric("fbc_sessions"), 0},
                           {detail_metric("protected_memory_total_bytes"), 0},
                           {detail_metric("event_reasons_supported"), 511},
                           {detail_metric("ecc_l1_cache_corrected_volatile_total"), Reason::not_supported},
                           {detail_metric("ecc_sram_corrected_volatile_total"), 0},
                           {detail_metric("ecc_sram_parity_total"), 0},
                           {detail_metric("remapped_rows_corrected_inactive_total"), 0},
                           {detail_metric("repair_channel_pending"), 0},
                           {detail_metric("memory_unrepairable"), 0},
                           {detail_metric("temperature_target_celsius"), Reason::not_supported},
                           {detail_metric("memory_power_instant_watts"), Reason::not_supported},
                           {detail_metric("module_power_limit_watts"), Reason::not_supported},
                           {detail_metric("clock_default_graphics_mhz"), 1980},
                           {detail_metric("clock_default_memory_mhz"), 3201},
                           {detail_metric("power_smoothing_supported"), Reason::not_supported},
                           {detail_metric("fabric_state"), 0},
                           {detail_metric("supported_clock_count"), 220},
                           {detail_metric("retired_page_count"), Reason::not_supported},
                           {detail_metric("accounted_process_count"), 0},
                           {detail_metric("sample_window_count"), 7},
                           {detail_metric("link_count"), Reason::not_supported},
                           {detail_metric("instance_profile_count"), 7},
                           {detail_metric("instance_placement_count"), 7 + 7 + 4 + 3 + 2 + 1 + 1},
                           {detail_metric("gpu_instance_count"), Reason::not_supported},
                           {detail_metric("compute_instance_count"), Reason::not_supported}});
  ASSERT_EQ(all.instance_profiles.size(), 7U);
  EXPECT_EQ(all.instance_profiles[2].name, "1g.35gb");
  EXPECT_EQ(all.instance_profiles[2].id, 15U);
  EXPECT_EQ(all.instance_profiles[2].memory_bytes, 33280 * kMib);
  EXPECT_EQ(all.instance_profiles[2].free, Reading(4));
  EXPECT_EQ(all.texts[detail_metric("chip_identity")], TextReading("0x123456789abcdef0"));
  EXPECT_EQ(all.texts[detail_metric("inforom_oem_version")], TextReading("2.1"));
  EXPECT_EQ(all.texts[detail_metric("inforom_ecc_version")], TextReading("7.16"));
  EXPECT_EQ(all.texts[detail_metric("inforom_power_version")], TextReading(Reason::not_supported));
  EXPECT_EQ(all.texts[detail_metric("memory_affinity")], TextReading("0"));
  EXPECT_EQ(all.texts[detail_metric("platform_chassis_serial")], TextReading(""));
  EXPECT_EQ(all.texts[detail_metric("platform_fabric_guid")], TextReading("0x0000000000000000"));
  EXPECT_EQ(all.texts[detail_metric("hostname_assigned")], TextReading(Reason::not_supported));
  EXPECT_EQ(all.texts[detail_metric("workload_profiles_requested")], TextReading(Reason::not_supported));
  ASSERT_EQ(all.clocks.size(), 2U);
  EXPECT_EQ(all.clocks[1].memory_mhz, 2201);
  EXPECT_EQ(all.clocks[0].graphics_mhz.size(), 110U);
  EXPECT_EQ(all.clocks[0].graphics_mhz.front(), 1980);
  EXPECT_EQ(all.clocks[0].graphics_mhz.back(), 345);
  const auto &power = all[SampleKind::power];
  EXPECT_EQ(power.count, Reading(119));
  EXPECT_NEAR(power.seconds.value_or(0), 2.36, 1e-6);
  EXPECT_NEAR(power.mean.value_or(0), 690.66, 1e-6);
  EXPECT_EQ(all[SampleKind::gpu].max, Reading(90));
  EXPECT_EQ(all[SampleKind::sm_clock].count, Reading(Reason::error, 6));
  EXPECT_EQ(all[SampleKind::ofa].count, Reading(71));
}

// A device that has all details, each with a different value.
const std::string kRich = R"([[device]]
profile = "h200"
pci_device_id = 0x232810DE
board_id = 0x1000
multi_gpu_board = 1
hostname = "node-7"
inforom_power = "3.3"
inforom_valid = 0
flush_time_s = 1700000123
flush_duration_us = 4500
memory_affinity = 0b1011
numa_node = 4
platform_slot = 11
platform_tray = 12
platform_host = 13
platform_peer_type = 1
platform_module = 14
platform_serial = "CH-15"
platform_guid = "0x0123456789abcdef"
addressing_mode = 2
operation_mode = 1
operation_mode_pending = 2
gsp_mode = 0
c2c_mode = 1
capability_mask = 3
dram_encryption = 1
dram_encryption_pending = 0
auto_boost = 1
auto_boost_default = 0
workload_requested = 0b1001
workload_enforced = 0b100000001
fbc_sessions = 2
fbc_fps = 30
fbc_latency_us = 1500
protected_total_mib = 100
protected_used_mib = 40
remapped_corrected_inactive = 21
remapped_uncorrected_inactive = 22
repair_channel = 1
repair_tpc = 0
memory_unrepairable = 1
sram_parity_volatile = 31
sram_parity_aggregate = 32
ecc_sram_volatile_uncorrected = 33
ecc_sram_aggregate_uncorrected = 34
ecc_sram_volatile_corrected = 35
sram_in_l2 = 36
sram_in_sm = 37
sram_in_mcu = 38
sram_in_pcie = 39
sram_in_other = 40
ecc_counts = [[3, 0, 0, 41], [0, 0, 1, 42], [1, 1, 0, 43], [4, 1, 1, 44], [6, 1, 0, 45]]
threshold_acoustic_min = 65
threshold_acoustic_current = 83
threshold_acoustic_max = 90
memory_power_instant_w = 70.5
module_power_w = 900.25
module_power_limit_w = 1001
module_power_enforced_w = 1002
module_power_default_w = 1003
module_power_min_w = 1004
module_power_max_w = 1005
fabric_state = 3
fabric_status = 7
fabric_clique = 32766
fabric_health = 0xAA6
fabric_summary = 1
fabric_cluster = "9f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
accounting_mode = 1
accounted = [{ pid = 77, gpu = 40, memory = 12, memory_mib = 900, seconds = 31.5 },
             { pid = 78, gpu = 1, memory = 2, memory_mib = 3, running = true }]
retired_pages = [[0x7000, 1700000001, 1], [0x8000, 1700000002, 0]]
gpu_util = { steps = [[0, 10], [990, 80], [999.9, 40]] }
[device.fields]
275 = 300
276 = 250
277 = 10
278 = 11
279 = 40
280 = 1
281 = 12
282 = 13
283 = 14
284 = 15
285 = 16
286 = 17
287 = 18
288 = 19
95 = 6
228 = 5
229 = 6
)";

TEST_F(Details, OfADeviceThatHasThemAll) {
  const auto &all = details(kRich);
  expect_numbers(all.row, {{detail_metric("pci_device_id"), 0x232810DE},
                           {detail_metric("board_id"), 0x1000},
                           {detail_metric("multi_gpu_board"), 1},
                           {detail_metric("inforom_valid"), 0},
                           {detail_metric("inforom_flush_time_seconds"), 1700000123},
                           {detail_metric("inforom_flush_duration_seconds"), 0.0045},
                           {detail_metric("gpu_numa_node"), 4},
                           {detail_metric("platform_slot"), 11},
                           {detail_metric("platform_tray"), 12},
                           {detail_metric("platform_host"), 13},
                           {detail_metric("platform_peer_type"), 1},
                           {detail_metric("platform_module"), 14},
                           {detail_metric("addressing_mode"), 2},
                           {detail_metric("operation_mode"), 1},
                           {detail_metric("operation_mode_pending"), 2},
                           {detail_metric("gsp_mode"), 0},
                           {detail_metric("gsp_mode_default"), 1},
                           {detail_metric("c2c_mode"), 1},
                           {detail_metric("extended_memory"), 1},
                           {detail_metric("dram_encryption"), 1},
                           {detail_metric("dram_encryption_pending"), 0},
                           {detail_metric("auto_boost"), 1},
                           {detail_metric("auto_boost_default"), 0},
                           {detail_metric("fbc_sessions"), 2},
                           {detail_metric("fbc_average_fps"), 30},
                           {detail_metric("fbc_latency_seconds"), 0.0015},
                           {detail_metric("protected_memory_total_bytes"), 100 * kMib},
                           {detail_metric("protected_memory_used_bytes"), 40 * kMib},
                           {detail_metric("protected_memory_free_bytes"), 60 * kMib},
                           {detail_metric("remapped_rows_corrected_inactive_total"), 21},
                           {detail_metric("remapped_rows_uncorrected_inactive_total"), 22},
                           {detail_metric("repair_channel_pending"), 1},
                           {detail_metric("repair_tpc_pending"), 0},
                           {detail_metric("memory_unrepairable"), 1},
                           {detail_metric("ecc_sram_parity_volatile_total"), 31},
                           {detail_metric("ecc_sram_parity_total"), 32},
                           {detail_metric("ecc_sram_secded_volatile_total"), 33},
                           {detail_metric("ecc_sram_uncorrected_volatile_total"), 33},
                           {detail_metric("ecc_sram_secded_total"), 34},
                           {detail_metric("ecc_sram_corrected_volatile_total"), 35},
                           {detail_metric("ecc_sram_in_l2_total"), 36},
                           {detail_metric("ecc_sram_in_sm_total"), 37},
                           {detail_metric("ecc_sram_in_mcu_total"), 38},
                           {detail_metric("ecc_sram_in_pcie_total"), 39},
                           {detail_metric("ecc_sram_in_other_total"), 40},
                           {detail_metric("ecc_register_file_corrected_volatile_total"), 41},
                           {detail_metric("ecc_l1_cache_corrected_total"), 42},
                           {detail_metric("ecc_l2_cache_uncorrected_volatile_total"), 43},
                           {detail_metric("ecc_texture_uncorrected_total"), 44},
                           {detail_metric("ecc_cbu_uncorrected_volatile_total"), 45},
                           {detail_metric("ecc_cbu_uncorrected_total"), Reason::not_supported},
                           {detail_metric("temperature_target_min_celsius"), 65},
                           {detail_metric("temperature_target_celsius"), 83},
                           {detail_metric("temperature_target_max_celsius"), 90},
                           {detail_metric("memory_power_instant_watts"), 70.5},
                           {detail_metric("module_power_instant_watts"), 900.25},
                           {detail_metric("module_power_limit_requested_watts"), 1001},
                           {detail_metric("module_power_limit_watts"), 1002},
                           {detail_metric("module_power_limit_default_watts"), 1003},
                           {detail_metric("module_power_limit_min_watts"), 1004},
                           {detail_metric("module_power_limit_max_watts"), 1005},
                           {detail_metric("power_smoothing_supported"), 1},
                           {detail_metric("power_smoothing_primary_floor_watts"), 300},
                           {detail_metric("power_smoothing_secondary_floor_watts"), 250},
                           {detail_metric("power_smoothing_min_offset_watts"), 10},
                           {detail_metric("power_smoothing_min_point_watts"), 11},
                           {detail_metric("power_smoothing_window_seconds"), 0.04},
                           {detail_metric("power_smoothing_profile_floor_watts"), 12},
                           {detail_metric("power_smoothing_profile_activation_windows"), 13},
                           {detail_metric("power_smoothing_profile_target_windows"), 14},
                           {detail_metric("power_smoothing_profile_offset_watts"), 15},
                           {detail_metric("power_smoothing_override_floor_watts"), 16},
                           {detail_metric("power_smoothing_override_activation_windows"), 17},
                           {detail_metric("power_smoothing_override_target_windows"), 18},
                           {detail_metric("power_smoothing_override_offset_watts"), 19},
                           {detail_metric("pcie_replay_rollover_total"), 6},
                           {detail_metric("pcie_atomics_outbound"), 5},
                           {detail_metric("pcie_atomics_inbound"), 6},
                           {detail_metric("fabric_state"), 3},
                           {detail_metric("fabric_status"), 7},
                           {detail_metric("fabric_clique"), 32766},
                           {detail_metric("fabric_health"), 0xAA6},
                           {detail_metric("fabric_health_summary"), 1},
                           {detail_metric("accounted_process_count"), 2},
                           {detail_metric("retired_page_count"), 2}});
  EXPECT_EQ(all.texts[detail_metric("hostname_assigned")], TextReading("node-7"));
  EXPECT_EQ(all.texts[detail_metric("inforom_power_version")], TextReading("3.3"));
  EXPECT_EQ(all.texts[detail_metric("memory_affinity")], TextReading("0-1,3"));
  EXPECT_EQ(all.texts[detail_metric("platform_chassis_serial")], TextReading("CH-15"));
  EXPECT_EQ(all.texts[detail_metric("platform_fabric_guid")], TextReading("0x0123456789abcdef"));
  EXPECT_EQ(all.texts[detail_metric("workload_profiles_requested")], TextReading("0, 3"));
  EXPECT_EQ(all.texts[detail_metric("workload_profiles_enforced")], TextReading("0, 8"));
  EXPECT_EQ(all.texts[detail_metric("fabric_cluster")], TextReading("9f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"));
}

TEST_F(Details, Lists) {
  const auto &all = details(kRich);
  ASSERT_EQ(all.retired_pages.size(), 2U);
  EXPECT_EQ(all.retired_pages[0].address, 0x8000U);
  EXPECT_EQ(all.retired_pages[0].time, 1700000002);
  EXPECT_FALSE(all.retired_pages[0].double_bit);
  EXPECT_EQ(all.retired_pages[1].address, 0x7000U);
  EXPECT_TRUE(all.retired_pages[1].double_bit);
  ASSERT_EQ(all.accounted.size(), 2U);
  EXPECT_EQ(all.accounted[0].pid, 77U);
  EXPECT_EQ(all.accounted[0].gpu_percent, Reading(40));
  EXPECT_EQ(all.accounted[0].memory_percent, Reading(12));
  EXPECT_EQ(all.accounted[0].memory_max_bytes, Reading(900 * kMib));
  EXPECT_EQ(all.accounted[0].running_seconds, Reading(31.5));
  EXPECT_FALSE(all.accounted[0].running);
  EXPECT_TRUE(all.accounted[1].running);
  EXPECT_EQ(all.accounted[1].running_seconds, Reading(0));
  // At 1000 s: 71 samples of 0.2 s, of which the first 20 are from before 990 s and the newest from after 999.9 s.
  const auto &use = all[SampleKind::gpu];
  EXPECT_EQ(use.count, Reading(71));
  EXPECT_EQ(use.max, Reading(80));
  EXPECT_EQ(use.min, Reading(10));
  EXPECT_NEAR(use.mean.value_or(0), (19 * 10 + 50 * 80 + 40) / 70.0, 1e-9);
  EXPECT_NEAR(use.seconds.value_or(0), 14, 1e-6);
}

TEST_F(Details, TheHostsPortIsAskedOfTheKernel) {
  const std::string port = "/sys/devices/pci0000:0f/0000:0f:01.0";
  root_.write(port + "/class", "0x060400\n");
  root_.write(port + "/max_link_speed", "16.0 GT/s PCIe\n");
  root_.write(port + "/0000:10:00.0/class", "0x030200\n");
  root_.link("/sys/bus/pci/devices/0000:10:00.0", "../../../devices/pci0000:0f/0000:0f:01.0/0000:10:00.0");
  const auto &all = details(kH200, {detail_metric("pcie_link_generation_host_max")});
  EXPECT_EQ(all.row[detail_metric("pcie_link_generation_host_max")], Reading(4));
}

// The readings of one direction are traffic of the other: the driver measures them one by one, as for nvidia-smi.
TEST_F(Details, PcieThroughputIsWhatTheDriverMeasures) {
  constexpr auto kTx = detail_metric("pcie_throughput_tx_bytes_per_second");
  constexpr auto kRx = detail_metric("pcie_throughput_rx_bytes_per_second");
  const auto &measured = details(kH200, {kTx, kRx});
  EXPECT_EQ(measured.row[kTx], Reading(8768e3));
  EXPECT_EQ(measured.row[kRx], Reading(11327e3));
  EXPECT_EQ(sim_calls("nvmlDeviceGetPcieThroughput"), 2U);
  EXPECT_EQ(sim_calls("nvmlDeviceGetFieldValues"), 0U);
}

TEST_F(Details, WhatTheLibraryDoesNotTellIsAskedOfTheKernelModule) {
  constexpr auto kPart = detail_metric("gpu_part_number");
  constexpr auto kSparse = detail_metric("sparse_operation_mode");
  const auto *told = &details(kH200, {kPart, kSparse});
  EXPECT_EQ(told->texts[kPart], TextReading("2335-895-A1"));
  EXPECT_EQ(told->row[kSparse], Reading(0));
  EXPECT_EQ(details(kH200 + "sparse_mode = 1\n", {kSparse}).row[kSparse], Reading(1));
  told = &details("[driver]\nversion = \"515.65.01\"\n" + kH200, {kPart, kSparse});
  EXPECT_EQ(told->texts[kPart], TextReading(Reason::not_supported));
  EXPECT_EQ(told->row[kSparse], Reading(Reason::not_supported));
  told = &details(kH200 + "chip_sku = \"\"\nsparse_mode = \"not supported\"\n", {kPart, kSparse});
  EXPECT_EQ(told->texts[kPart], TextReading(Reason::not_supported));
  EXPECT_EQ(told->row[kSparse], Reading(Reason::not_supported));
}

TEST_F(Details, CodesBecomeReasons) {
  const auto with = [&](const std::string &value) {
    return details(kH200 + value + "\n", {detail_metric("display_attached")}).row[detail_metric("display_attached")];
  };
  EXPECT_EQ(with("display_mode = { code = 26 }"), Reading(Reason::deprecated));
  EXPECT_EQ(with("display_mode = { code = 4 }"), Reading(Reason::no_permission));
  EXPECT_EQ(with("display_mode = { code = 6 }"), Reading(Reason::error, 6));
  EXPECT_EQ(with("display_mode = \"not supported\""), Reading(Reason::not_supported));
}

// A driver of 2013 has few of the functions; the rest is not supported.
TEST_F(Details, OfAnOldDriver) {
  const auto &all = details("[driver]\nversion = \"331.62\"\ngeneration = \"331.62\"\n" + kRich);
  expect_numbers(all.row, {{detail_metric("pci_device_id"), 0x232810DE},
                           {detail_metric("pci_base_class"), Reason::not_supported},
                           {detail_metric("board_id"), 0x1000},
                           {detail_metric("display_attached"), 1},
                           {detail_metric("event_reasons_supported"), 511},
                           {detail_metric("fabric_state"), Reason::not_supported},
                           {detail_metric("platform_slot"), Reason::not_supported},
                           {detail_metric("pcie_throughput_tx_bytes_per_second"), Reason::not_supported},
                           {detail_metric("power_smoothing_supported"), Reason::not_supported},
                           {detail_metric("retired_page_count"), 2},
                           {detail_metric("accounted_process_count"), 2}});
  EXPECT_EQ(all.retired_pages[1].address, 0x7000U);
  EXPECT_EQ(all.retired_pages[1].time, 0);  // the old call does not give it
}

// Two fields cost two calls, besides discovery.
TEST_F(Details, OnlyWhatIsAskedForIsRead) {
  const auto &all = details(kH200, {detail_metric("module_id"), device_metric("temperature_gpu_celsius")});
  EXPECT_EQ(all.row[detail_metric("module_id")], Reading(6));
  EXPECT_EQ(last_->devices[0].row[device_metric("temperature_gpu_celsius")], Reading(63));
  EXPECT_TRUE(last_->devices[0].row[device_metric("power_draw_watts")].is(Reason::not_sampled));
  unsigned long expected = 0;
  for (const auto *name :
       {"nvmlInit_v2", "nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion", "nvmlDeviceGetCount_v2",
        "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetPciInfo_v3",
        "nvmlDeviceGetModuleId", "nvmlDeviceGetTemperatureV"}) {
    EXPECT_EQ(sim_calls(name), 1U) << name;
    expected += sim_calls(name);
  }
  EXPECT_EQ(sim_calls("*"), expected);
}

TEST_F(Details, NobodyReadsThemUnasked) {
  sim_load(kH200);
  const auto now = make_sampler(patient())->sample(Pass::everything);
  EXPECT_EQ(now->devices[0].details, nullptr);
  for (const auto *name : {"nvmlDeviceGetModuleId", "nvmlDeviceGetPcieThroughput", "nvmlDeviceGetGpuFabricInfoV"}) {
    EXPECT_EQ(sim_calls(name), 0U) << name;
  }
}

TEST_F(Details, TextsAreReadByNameToo) {
  const auto now = sample(kH200, {device_metric("vbios_version")});
  EXPECT_EQ(now->devices[0].identity->texts[device_metric("vbios_version")], TextReading("96.00.A5.00.1A"));
  EXPECT_EQ(sim_calls("nvmlDeviceGetSerial"), 0U);
  EXPECT_EQ(sim_calls("nvmlSystemGetCudaDriverVersion_v2"), 0U);
  EXPECT_EQ(now->devices[0].details, nullptr);
}

TEST_F(Details, WhatProcessesDoBringsTheirList) {
  const std::string process = "[[process]]\npid = 700\ncommand = \"/opt/bin/train\"\nmemory_mib = 5\nsm = 33\n";
  const auto now = sample(kH200 + process, {process_metric("gpu_utilization_percent")});
  ASSERT_EQ(now->processes.size(), 1U);
  const auto &texts = *now->processes[0].texts;
  // Not in /proc: only the driver's name is known.
  EXPECT_EQ(texts[process_metric("name")], TextReading("train"));
  EXPECT_EQ(texts[process_metric("program")], TextReading("/opt/bin/train"));
  EXPECT_EQ(sim_calls("nvmlDeviceGetProcessesUtilizationInfo"), 1U);
  const auto listed = sample(kH200 + process, {process_metric("gpu_memory_bytes")});
  EXPECT_EQ(listed->processes[0].row[process_metric("gpu_memory_bytes")], Reading(5 * kMib));
  EXPECT_EQ(sim_calls("nvmlDeviceGetProcessesUtilizationInfo"), 0U);
}

TEST_F(Details, OfLinksOneByOne) {
  const auto &links = details(
                          "[[device]]\nprofile = \"h100\"\nnvlink_links = 3\nnvlink_down = [1]\nnvlink_tx_kibs = 3\n"
                          "nvlink_crc_errors = 5\n")
                          .links;
  ASSERT_EQ(links.size(), 3U);
  EXPECT_EQ(links[1].state, Reading(0));
  EXPECT_EQ(links[2].state, Reading(1));
  EXPECT_EQ(links[2].bytes_per_second, Reading(26562e6));
  EXPECT_EQ(links[2].remote_link, Reading(2));
  EXPECT_EQ(links[2].capabilities[5], Reading(1));
  EXPECT_EQ(links[2].crc_errors, Reading(5));
  EXPECT_EQ(links[2].data_tx_bytes, Reading(1000 * 1024));  // a third of all, in 1000 s
}

TEST_F(Details, OfLinksWithADriverThatKnowsOneSpeedForAll) {
  const auto &links = details(
                          "[driver]\ngeneration = 470\n[[device]]\nprofile = \"a100\"\n[device.fields]\n"
                          "164 = \"not supported\"\n")
                          .links;
  ASSERT_FALSE(links.empty());
  EXPECT_EQ(links[0].bytes_per_second, Reading(25781e6));
}

TEST_F(Details, OfASplitDevice) {
  last_ = sample(
      "[driver]\nsetters = \"anyone\"\n[[device]]\nprofile = \"h100\"\nmig = [{ profile = \"1c.3g.40gb\", gi = 2, "
      "ci = 1, start = 4, part_start = 2, memory_total_mib = 40448 }]\n",
      {detail_metric("gpu_instance_count"), detail_metric("compute_instance_count")});
  ASSERT_FALSE(last_->devices.empty());
  const auto &parts = last_->devices[0].details->parts;
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].name, "3g.40gb");
  EXPECT_EQ(parts[0].id, 2U);
  EXPECT_EQ(parts[0].start, 4U);
  EXPECT_EQ(parts[0].size, 4U);
  ASSERT_EQ(parts[0].profiles.size(), 3U);
  EXPECT_EQ(parts[0].profiles[0].name, "1c.3g.40gb");
  EXPECT_EQ(parts[0].profiles[0].free, Reading(2));
  EXPECT_EQ(parts[0].profiles[2].name, "3g.40gb");
  ASSERT_EQ(parts[0].instances.size(), 1U);
  EXPECT_EQ(parts[0].instances[0].name, "1c.3g.40gb");
  EXPECT_EQ(parts[0].instances[0].id, 1U);
  EXPECT_EQ(parts[0].instances[0].start, 2U);
}

TEST_F(Details, OfASplitDeviceAreForItsOwner) {
  last_ = sample(
      "[driver]\nsetters = \"nobody\"\n[[device]]\nprofile = \"h100\"\nmig = [{ profile = \"3g.40gb\", gi = 2, ci = 0, "
      "memory_total_mib = 40448 }]\n",
      {detail_metric("gpu_instance_count")});
  const auto &details = *last_->devices.at(0).details;
  EXPECT_TRUE(details.row[detail_metric("gpu_instance_count")].is(Reason::no_permission));
  EXPECT_TRUE(details.parts.empty());
}

}  // namespace
}  // namespace gpulse::test

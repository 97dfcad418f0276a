// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metric/state_names.hpp"
#include "smi/read_log.hpp"
#include "smi/testing.hpp"

namespace gpulse::smi {
namespace {

using ::testing::HasSubstr;

std::vector<SnapshotPtr> read_csv(const std::string &text) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  auto log = read_log(text, "log");
  EXPECT_TRUE(log) << log.error().line();
  return log ? std::move(*log) : std::vector<SnapshotPtr>{};
}

TEST(SmiCsv, AnOrdinaryQuery) {
  const auto log = read_csv(
      "timestamp, driver_version, index, name, uuid, pci.bus_id, memory.used [MiB], power.draw [W], temperature.gpu, "
      "utilization.gpu [%], pstate, clocks_event_reasons.active, ecc.mode.current, serial, vgpu.some_thing\n"
      "2026/11/15 02:30:27.016, 580.1, 0, NVIDIA X, GPU-1, 00000000:0A:00.0, 12 MiB, 33.10 W, 37, 5 %, P0, "
      "0x0000000000000004, Enabled, 0123, 7\n"
      "2026/11/15 02:30:27.018, 580.1, 1, NVIDIA X, GPU-2, 00000000:0B:00.0, [N/A], [Unknown Error], "
      "[GPU is lost], [Insufficient Permissions], [Not Supported], [N/A], Disabled, [N/A], 7\n");
  ASSERT_EQ(log.size(), 1U);
  const auto &snapshot = *log.front();
  EXPECT_EQ(iso8601_utc(snapshot.time), "2026-11-15T02:30:27.016Z");
  EXPECT_EQ(snapshot.origin, "LOG");
  ASSERT_EQ(snapshot.devices.size(), 2U);
  const auto &first = snapshot.devices[0];
  EXPECT_EQ(first.identity->name, "NVIDIA X");
  EXPECT_EQ(first.identity->uuid, "GPU-1");
  EXPECT_EQ(first.identity->pci, "0000:0a:00.0");
  EXPECT_EQ(first.identity->driver, "580.1");
  EXPECT_EQ(first.identity->texts[device_metric("serial")], TextReading("0123"));
  EXPECT_EQ(number(first, "memory_used_bytes"), Reading(12 * kMiB));
  EXPECT_EQ(number(first, "power_draw_watts"), Reading(33.1));
  EXPECT_EQ(number(first, "temperature_gpu_celsius"), Reading(37.0));
  EXPECT_EQ(number(first, "gpu_utilization_percent"), Reading(5.0));
  EXPECT_EQ(number(first, "performance_state"), Reading(0.0));
  EXPECT_EQ(number(first, "throttle_reasons"), Reading(4.0));
  EXPECT_EQ(number(first, "ecc_mode"), Reading(1.0));
  EXPECT_EQ(number(first, "fan_speed_percent"), Reading(Reason::not_supported));
  EXPECT_EQ(first.details, nullptr);
  const auto &second = snapshot.devices[1];
  EXPECT_EQ(number(second, "memory_used_bytes"), Reading(Reason::not_supported));
  EXPECT_EQ(number(second, "power_draw_watts"), Reading(Reason::error, 999));
  EXPECT_EQ(number(second, "temperature_gpu_celsius"), Reading(Reason::lost));
  EXPECT_EQ(number(second, "gpu_utilization_percent"), Reading(Reason::no_permission));
  EXPECT_EQ(number(second, "performance_state"), Reading(Reason::not_supported, 3));  // [Not Supported]
}

TEST(SmiCsv, WithoutUnitsTheTitleTellsThem) {
  const auto log = read_csv(
      "index, memory.used [MiB], clocks_event_reasons_counters.sw_power_cap [us], power_smoothing.window_multiplier "
      "[ms]\n"
      "0, 12, 1500000, 20\n");
  const auto &device = log.at(0)->devices.at(0);
  EXPECT_EQ(number(device, "memory_used_bytes"), Reading(12 * kMiB));
  EXPECT_EQ(number(device, "throttled_power_seconds"), Reading(1.5));
  EXPECT_EQ(number(device, "power_smoothing_window_seconds"), Reading(0.02));
}

TEST(SmiCsv, OldAndShortNames) {
  const auto log = read_csv(
      "index, clocks.gr [MHz], clocks.mem [MHz], clocks_throttle_reasons.active, pcie.link.gen.current, "
      "ecc.errors.corrected.volatile.dram, ecc.errors.corrected.volatile.device_memory\r\n"
      "0, 1980 MHz, 3201 MHz, 0x0000000000000201, 4, 3, [N/A]\r\n");
  const auto &device = log.at(0)->devices.at(0);
  EXPECT_EQ(number(device, "clock_graphics_mhz"), Reading(1980.0));
  EXPECT_EQ(number(device, "clock_memory_mhz"), Reading(3201.0));
  EXPECT_EQ(number(device, "throttle_reasons"),
            Reading(static_cast<double>(state_names::throttle_bit("idle") | state_names::throttle_bit("other"))));
  EXPECT_EQ(number(device, "pcie_link_generation"), Reading(4.0));
  EXPECT_EQ(number(device, "ecc_dram_corrected_volatile_total"), Reading(3.0));
}

TEST(SmiCsv, ReasonsForLowerClocksOneByOne) {
  const auto log = read_csv(
      "index, clocks_event_reasons.sw_power_cap, clocks_event_reasons.hw_slowdown\n0, Active, Not Active\n1, [N/A], "
      "[N/A]\n");
  EXPECT_EQ(number(log.at(0)->devices.at(0), "throttle_reasons"), Reading(4.0));
  EXPECT_EQ(number(log.at(0)->devices.at(1), "throttle_reasons"), Reading(Reason::not_supported));
}

TEST(SmiCsv, ADeviceThatComesAgainBeginsAMoment) {
  const auto log = read_csv(
      "timestamp, index, utilization.gpu [%]\n2026/11/15 02:30:36.175, 0, 1 %\n2026/11/15 02:30:36.176, 1, 2 %\n"
      "2026/11/15 02:30:37.179, 0, 3 %\n2026/11/15 02:30:37.180, 1, 4 %\n");
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0]->devices.size(), 2U);
  EXPECT_EQ(iso8601_utc(log[1]->time), "2026-11-15T02:30:37.179Z");
  EXPECT_EQ(number(log[1]->devices.at(1), "gpu_utilization_percent"), Reading(4.0));
}

TEST(SmiCsv, RowsThatDoNotSayTheirDevice) {
  EXPECT_EQ(read_csv("utilization.gpu [%]\n1 %\n2 %\n3 %\n").at(0)->devices.size(), 3U);
  const auto log = read_csv(
      "timestamp, utilization.gpu [%]\n2026/11/15 02:30:36.175, 1 %\n2026/11/15 02:30:36.178, 2 %\n"
      "2026/11/15 02:30:37.175, 3 %\n2026/11/15 02:30:37.178, 4 %\n");
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0]->devices.size(), 2U);
  EXPECT_EQ(log[1]->devices.size(), 2U);
}

TEST(SmiCsv, NumbersAreNvidiaSmisOwn) {
  const auto log = read_csv("index, temperature.gpu\n3, 40\n1, 50\n");
  ASSERT_EQ(log.at(0)->devices.size(), 2U);
  EXPECT_EQ(log[0]->devices[0].id.index, 1U);
  EXPECT_EQ(number(log[0]->devices[0], "temperature_gpu_celsius"), Reading(50.0));
  EXPECT_EQ(log[0]->devices[1].id.index, 3U);
  EXPECT_EQ(log[0]->devices[1].identity->uuid, "LOG-3");
}

TEST(SmiCsv, AHeaderInTheMiddleBeginsAnotherRun) {
  const auto log = read_csv("utilization.gpu [%]\n1 %\nutilization.gpu [%]\n2 %\n");
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(number(log[1]->devices.at(0), "gpu_utilization_percent"), Reading(2.0));
}

TEST(SmiCsv, Processes) {
  const auto log = read_csv(
      "timestamp, gpu_name, gpu_bus_id, gpu_serial, gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
      "2026/11/15 02:31:18.757, NVIDIA X, 00000000:00:06.0, 1, GPU-1, 560, python3 a, b, 1130 MiB\n"
      "2026/11/15 02:31:18.757, NVIDIA X, 00000000:00:06.0, 1, GPU-1, 561, C:\\Program Files\\x y.exe, [N/A]\n"
      "2026/11/15 02:31:19.757, NVIDIA X, 00000000:00:06.0, 1, GPU-1, 560, python3, 9 MiB\n");
  ASSERT_EQ(log.size(), 2U);
  ASSERT_EQ(log[0]->devices.size(), 1U);
  EXPECT_EQ(log[0]->devices[0].identity->pci, "0000:00:06.0");
  ASSERT_EQ(log[0]->processes.size(), 2U);
  const auto &first = log[0]->processes[0];
  EXPECT_EQ(first.pid, 560U);
  EXPECT_EQ(first.row[process_metric("gpu_memory_bytes")], Reading(1130 * kMiB));
  EXPECT_EQ((*first.texts)[process_metric("command")], TextReading("python3 a, b"));
  EXPECT_EQ((*first.texts)[process_metric("name")], TextReading("python3 a, b"));
  EXPECT_EQ((*log[0]->processes[1].texts)[process_metric("name")], TextReading("x y.exe"));
  EXPECT_EQ(log[0]->processes[1].row[process_metric("gpu_memory_bytes")], Reading(Reason::not_supported));
  // Those that draw are not in this list.
  EXPECT_EQ(number(log[0]->devices[0], "process_count"), Reading(Reason::not_supported));
  EXPECT_EQ(log[1]->processes.size(), 1U);
}

TEST(SmiCsv, TitlesAloneAreAnEmptyLog) {
  const auto log = read_csv("index, name\n");
  ASSERT_EQ(log.size(), 1U);
  EXPECT_TRUE(log[0]->devices.empty());
}

TEST(SmiCsv, TitlesOfALogThatHasNone) {
  const auto log = read_log("0, NVIDIA H200, 5\n1, NVIDIA H200, 6\n", "log", "index,name,utilization.gpu");
  ASSERT_TRUE(log);
  ASSERT_EQ(log->size(), 1U);
  EXPECT_EQ(number(log->front()->devices.at(1), "gpu_utilization_percent"), Reading(6.0));
  // A line of titles tells better.
  const auto titled = read_log("index, fan.speed [%]\n0, 7 %\n", "log", "index,utilization.gpu");
  ASSERT_TRUE(titled);
  EXPECT_EQ(number(titled->front()->devices.at(0), "fan_speed_percent"), Reading(7.0));
}

TEST(SmiCsv, ListsOfADevice) {
  const auto pages = read_csv(
      "gpu_uuid, retired_pages.address, retired_pages.timestamp, retired_pages.cause\n"
      "GPU-1, 0x10, Wed Aug 21 23:34:06 2019, Single Bit ECC\nGPU-1, 0x20, [N/A], Double Bit ECC\n"
      "GPU-2, [N/A], [N/A], Single Bit ECC\n");
  ASSERT_EQ(pages.size(), 1U);
  const auto &first = *pages[0]->devices.at(0).details;
  ASSERT_EQ(first.retired_pages.size(), 2U);
  EXPECT_EQ(first.retired_pages[0].address, 0x10U);
  EXPECT_GT(first.retired_pages[0].time, 0);
  EXPECT_TRUE(first.retired_pages[1].double_bit);
  EXPECT_EQ(pages[0]->devices.at(1).details->row[detail_metric("retired_page_count")], Reading(Reason::not_supported));

  const auto clocks =
      read_csv("memory [MHz], graphics [MHz]\n3201 MHz, 1980 MHz\n3201 MHz, 345 MHz\n405 MHz, 345 MHz\n");
  ASSERT_EQ(clocks.at(0)->devices.size(), 1U);  // without their device, they are taken as one device's
  ASSERT_EQ(clocks[0]->devices[0].details->clocks.size(), 2U);
  EXPECT_EQ(clocks[0]->devices[0].details->clocks[0].graphics_mhz, (std::vector<double>{1980, 345}));

  const auto accounted = read_csv(
      "gpu_uuid, pid, gpu_utilization [%], mem_utilization [%], max_memory_usage [MiB], time [ms]\n"
      "GPU-1, 7, 66 %, [N/A], 10 MiB, 1500 ms\n");
  const auto &process = accounted.at(0)->devices.at(0).details->accounted.at(0);
  EXPECT_EQ(process.pid, 7U);
  EXPECT_EQ(process.running_seconds, Reading(1.5));
  EXPECT_EQ(process.memory_percent, Reading(Reason::not_supported));
}

TEST(SmiCsv, RefusedInOneLine) {
  EXPECT_EQ(refusal("0, NVIDIA H200, 5 %\n"),
            "log: no line with the names of the columns: leave noheader out of --format, or name them: --columns "
            "index,name,…");
  EXPECT_EQ(refusal("No devices were found\n"),
            "log: no log of nvidia-smi: it begins with \"No devices were found\": make one with nvidia-smi -q -x");
  EXPECT_EQ(refusal("index, name\n0, X\n1\n"), "log: line 3: 1 cells under 2 titles: is the file whole?");
  EXPECT_THAT(refusal("index, name\nx, X\n"), HasSubstr("line 2: the index is no number"));
  EXPECT_THAT(refusal("gpu_uuid, pid\nGPU-1, x\n"), HasSubstr("line 2: the pid is no number"));
  EXPECT_THAT(refusal("gpu_uuid, pid, max_memory_usage\nGPU-1, x, 1 MiB\n"), HasSubstr("line 2: the pid is no number"));
  EXPECT_THAT(refusal("name, age\nAnn, 7\n"), HasSubstr("no log of nvidia-smi"));
  std::string many = "utilization.gpu [%]\n";
  for (int i = 0; i < 1025; ++i) many += "1 %\n";
  EXPECT_THAT(refusal(many), HasSubstr("more than 1024 GPUs in one moment: add index"));
  many = "index, utilization.gpu [%]\n";
  for (int i = 0; i < 131073; ++i) many += "0, 1 %\n";
  EXPECT_THAT(refusal(many), HasSubstr("more than 131072 rows"));
}

TEST(SmiCsv, IsRecognisedByItsFirstLine) {
  EXPECT_TRUE(is_log("index, memory.used [MiB]\n0, 1 MiB\n"));
  EXPECT_TRUE(is_log("0, NVIDIA H200\n"));
  EXPECT_FALSE(is_log("Dear Sir,\nyours"));
  EXPECT_FALSE(is_log("name,age\n"));
  EXPECT_FALSE(is_log(""));
}

}  // namespace
}  // namespace gpulse::smi

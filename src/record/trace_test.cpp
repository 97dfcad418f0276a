// SPDX-License-Identifier: Apache-2.0
#include "record/trace.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace gpulse::record {
namespace {

using ::testing::HasSubstr;

const std::vector<SnapshotPtr> &h200() {
  static const auto trace = [] {
    std::ifstream file(kSourceDir + "/data/h200_trace.csv", std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    auto imported = import_trace(text, "trace");
    EXPECT_TRUE(imported) << imported.error().line();
    return std::move(*imported);
  }();
  return trace;
}

// The snapshot that line `line` of the file (the header is 1) became.
const Snapshot &at_line(std::size_t line) { return *h200().at(line - 2); }
const Row &row(std::size_t line) { return at_line(line).devices.at(0).row; }

TEST(Trace, FirstLine) {
  ASSERT_EQ(h200().size(), 1835);
  const auto &first = at_line(2);
  EXPECT_EQ(iso8601_utc(first.time), "2026-11-15T02:00:00.100Z");
  const auto &device = first.devices.at(0);
  EXPECT_EQ(device.identity->name, "NVIDIA H200");
  EXPECT_EQ(device.identity->uuid, "GPU-00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(device.identity->pci, "0000:00:06.0");
  EXPECT_EQ(device.identity->driver, "580.159.04");
  EXPECT_EQ(row(2)[device_metric("gpu_utilization_percent")], Reading(2.0));
  EXPECT_EQ(row(2)[device_metric("memory_used_bytes")], Reading(0.0));
  EXPECT_EQ(row(2)[device_metric("memory_total_bytes")], Reading(150754820096.0));  // 143771 MiB
  EXPECT_EQ(row(2)[device_metric("memory_reserved_bytes")], Reading(644979098.0));  // 615.1 MiB
  EXPECT_EQ(row(2)[device_metric("memory_free_bytes")], Reading(150109840998.0));
  EXPECT_EQ(row(2)[device_metric("temperature_gpu_celsius")], Reading(46.0));
  EXPECT_EQ(row(2)[device_metric("temperature_memory_celsius")], Reading(44.0));
  EXPECT_EQ(row(2)[device_metric("power_draw_watts")], Reading(510.488));
  EXPECT_EQ(row(2)[device_metric("power_instant_watts")], Reading(133.822));
  EXPECT_EQ(row(2)[device_metric("power_limit_watts")], Reading(700.0));
  EXPECT_EQ(row(2)[device_metric("energy_joules")], Reading(16378.579));
  EXPECT_EQ(row(2)[device_metric("clock_sm_mhz")], Reading(1980.0));
  EXPECT_EQ(row(2)[device_metric("clock_max_memory_mhz")], Reading(3201.0));
  EXPECT_EQ(row(2)[device_metric("performance_state")], Reading(0.0));
  EXPECT_EQ(row(2)[device_metric("throttle_reasons")], Reading(4.0));  // power cap
  EXPECT_EQ(row(2)[device_metric("throttled_power_seconds")], Reading(16.672857248));
  EXPECT_EQ(row(2)[device_metric("dram_active_percent")], Reading(0.15));
  EXPECT_EQ(row(2)[device_metric("pcie_tx_bytes_per_second")], Reading(10391388.0));  // 9.91 MiB/s
  EXPECT_TRUE(row(2)[device_metric("fan_speed_percent")].is(Reason::not_supported));
  EXPECT_EQ(first.host[host_metric("cpu_percent")], Reading(2.8));
  EXPECT_EQ(first.host[host_metric("cpu_iowait_percent")], Reading(0.0));
  EXPECT_TRUE(first.host[host_metric("memory_total_bytes")].is(Reason::not_supported));
  EXPECT_TRUE(first.processes.empty());
}

TEST(Trace, LineUnderLoad) {
  const auto &busy = at_line(110);
  EXPECT_EQ(iso8601_utc(busy.time), "2026-11-15T02:00:10.900Z");
  EXPECT_EQ(row(110)[device_metric("gpu_utilization_percent")], Reading(100.0));
  EXPECT_EQ(row(110)[device_metric("memory_utilization_percent")], Reading(25.0));
  EXPECT_EQ(row(110)[device_metric("power_draw_watts")], Reading(687.736));
  EXPECT_EQ(row(110)[device_metric("graphics_active_percent")], Reading(99.72));
  EXPECT_EQ(row(110)[device_metric("sm_active_percent")], Reading(96.08));
  EXPECT_EQ(row(110)[device_metric("sm_occupancy_percent")], Reading(14.20));
  EXPECT_EQ(row(110)[device_metric("integer_active_percent")], Reading(1.35));
  EXPECT_EQ(row(110)[device_metric("tensor_active_percent")], Reading(93.24));
  EXPECT_EQ(row(110)[device_metric("tensor_fp16_active_percent")], Reading(93.24));
  EXPECT_EQ(row(110)[device_metric("tensor_fp64_active_percent")], Reading(0.0));
  EXPECT_EQ(row(110)[device_metric("dram_active_percent")], Reading(17.84));
  ASSERT_EQ(busy.processes.size(), 1);
  const auto &process = busy.processes[0];
  EXPECT_EQ(process.pid, 560);
  EXPECT_EQ(text(process.device), "0");
  EXPECT_EQ(type_word(process.types), "compute");
  EXPECT_EQ((*process.texts)[process_metric("name")], TextReading("python3"));
  EXPECT_EQ((*process.texts)[process_metric("user")], TextReading("root"));
  EXPECT_EQ(process.row[process_metric("gpu_memory_bytes")], Reading(1222.0 * 1048576));
  EXPECT_EQ(process.row[process_metric("cpu_percent")], Reading(100.0));
  EXPECT_TRUE(process.row[process_metric("gpu_utilization_percent")].is(Reason::not_sampled));
}

TEST(Trace, NotANumberIsOutOfRange) {
  EXPECT_TRUE(row(93)[device_metric("dram_active_percent")].is(Reason::out_of_range));
  EXPECT_EQ(row(93)[device_metric("sm_active_percent")], Reading(0.0));
}

TEST(Trace, PhasesAreEvents) {
  std::vector<std::string> phases;
  for (const auto &snapshot : h200()) {
    for (const auto &event : snapshot->events) {
      EXPECT_EQ(event.kind, EventKind::phase);
      EXPECT_EQ(event.time, snapshot->time);
      phases.push_back(event.text);
    }
  }
  ASSERT_EQ(phases.size(), 31);
  EXPECT_EQ(phases[0], "idle");
  EXPECT_EQ(phases[2], "compute_bound_tensor");
  EXPECT_EQ(phases[29], "spin_single_block");
  EXPECT_EQ(at_line(96).events.at(0).text, "compute_bound_tensor");
}

TEST(Trace, ColumnsInAnyOrderAndUnknownOnes) {
  const auto trace = import_trace("colour,util_gpu_pct,t_s\r\nred,7,1.5\r\n\r\nblue,,2.5\n", "x", "REPLAY");
  ASSERT_TRUE(trace) << trace.error().line();
  ASSERT_EQ(trace->size(), 2);
  const auto &device = (*trace)[0]->devices[0].row;
  EXPECT_EQ((*trace)[0]->origin, "REPLAY");
  EXPECT_EQ(device[device_metric("gpu_utilization_percent")], Reading(7.0));
  EXPECT_TRUE(device[device_metric("power_draw_watts")].is(Reason::not_supported));
  EXPECT_TRUE(device[device_metric("throttle_reasons")].is(Reason::not_supported));
  EXPECT_TRUE((*trace)[0]->events.empty());
  EXPECT_TRUE((*trace)[1]->devices[0].row[device_metric("gpu_utilization_percent")].is(Reason::not_sampled));
}

TEST(Trace, ErrorsNameTheLine) {
  const auto error = [](std::string_view csv) { return import_trace(csv, "file.csv").error().line(); };
  EXPECT_THAT(error("a,b\n1,2\n"), HasSubstr("no column t_s"));
  EXPECT_THAT(error("t_s,pstate\n1,0\n2\n"), HasSubstr("file.csv, line 3: 1 cells where the header has 2"));
  EXPECT_THAT(error("t_s,pstate\n1,0\n2,0,9\n"), HasSubstr("line 3"));
  EXPECT_THAT(error("t_s,pstate\nx,0\n"), HasSubstr("line 2: t_s is not a number: x"));
  EXPECT_THAT(error("t_s\nnan\n"), HasSubstr("t_s is no time"));
  EXPECT_THAT(error("t_s\n1e300\n"), HasSubstr("t_s is no time"));
  EXPECT_THAT(error("t_s,event_reasons_hex\n1,zz\n"), HasSubstr("event_reasons_hex"));
  EXPECT_THAT(error(""), HasSubstr("is empty"));
  EXPECT_THAT(error("t_s" + std::string(std::size_t{1} << 20U, ',')), HasSubstr("too many columns"));
  EXPECT_THAT(error("t_s\n" + std::string(std::size_t{1} << 20U, ',')), HasSubstr("1048577 cells"));
}

// A line of two bytes becomes a sample of kilobytes.
TEST(Trace, TooManySamplesAreRefused) {
  std::string csv = "t_s\n";
  for (int i = 0; i < 262145; ++i) csv += "1\n";
  EXPECT_THAT(import_trace(csv, "file.csv").error().line(), HasSubstr("more than 262144 samples"));
}

}  // namespace
}  // namespace gpulse::record

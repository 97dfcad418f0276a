// SPDX-License-Identifier: Apache-2.0
#include "model/plausible.hpp"

#include <gtest/gtest.h>

namespace gpulse {
namespace {

constexpr double kGib = 1073741824.0;
constexpr double kAllOnes = 4294967295.0;  // what 32 bits say when nothing is known

bool is_plausible(MetricId id, double value) { return plausible(id, value).has_value(); }

TEST(Plausible, WhatHardwareHas) {
  EXPECT_TRUE(is_plausible(device_metric("temperature_gpu_celsius"), -40));  // a cold start outdoors
  EXPECT_TRUE(is_plausible(device_metric("temperature_memory_celsius"), 110));
  EXPECT_TRUE(is_plausible(device_metric("power_draw_watts"), 2700));
  EXPECT_TRUE(is_plausible(device_metric("clock_memory_mhz"), 15001));  // GDDR7
  EXPECT_TRUE(is_plausible(device_metric("memory_total_bytes"), 1536 * kGib));
  EXPECT_TRUE(is_plausible(device_metric("fan_speed_percent"), 105));
  EXPECT_TRUE(is_plausible(device_metric("fan_speed_rpm"), 28000));
  EXPECT_TRUE(is_plausible(device_metric("energy_joules"), 16378579));
  EXPECT_TRUE(is_plausible(host_metric("memory_total_bytes"), 163840 * kGib));
  EXPECT_TRUE(is_plausible(process_metric("cpu_percent"), 76800));  // all of 768 cores
  EXPECT_TRUE(is_plausible(self_metric("cpu_percent"), 140));
  EXPECT_TRUE(is_plausible(process_metric("tree_cpu_percent"), 6400));
  EXPECT_TRUE(is_plausible(process_metric("tree_disk_wait_percent"), 1600));
  EXPECT_TRUE(is_plausible(process_metric("nice"), -20));
  EXPECT_TRUE(is_plausible(device_metric("numa_node"), -1));
  EXPECT_TRUE(is_plausible(device_metric("xid_last"), 154));
}

TEST(Plausible, WhatNothingHas) {
  EXPECT_FALSE(is_plausible(device_metric("temperature_gpu_celsius"), -273));
  EXPECT_FALSE(is_plausible(device_metric("temperature_gpu_celsius"), -56));
  EXPECT_FALSE(is_plausible(device_metric("temperature_memory_celsius"), 301));
  EXPECT_FALSE(is_plausible(host_metric("cpu_temperature_celsius"), -273.15));
  EXPECT_FALSE(is_plausible(device_metric("gpu_utilization_percent"), 102));
  EXPECT_FALSE(is_plausible(device_metric("power_draw_watts"), kAllOnes / 1000));
  EXPECT_FALSE(is_plausible(device_metric("power_limit_watts"), -1));
  EXPECT_FALSE(is_plausible(device_metric("clock_sm_mhz"), 627200));  // as one driver says
  EXPECT_FALSE(is_plausible(device_metric("fan_speed_rpm"), 65535));
  EXPECT_FALSE(is_plausible(device_metric("fan_speed_percent"), 255));
  EXPECT_FALSE(is_plausible(device_metric("memory_total_bytes"), 9.2e18));
  EXPECT_FALSE(is_plausible(process_metric("gpu_memory_bytes"), 9.2e18));
  EXPECT_FALSE(is_plausible(host_metric("memory_total_bytes"), 9.2e18));
  EXPECT_FALSE(is_plausible(process_metric("gpu_utilization_percent"), kAllOnes));
  EXPECT_FALSE(is_plausible(process_metric("cpu_percent"), kAllOnes));
  EXPECT_FALSE(is_plausible(device_metric("energy_joules"), 1.8e16));
  EXPECT_FALSE(is_plausible(device_metric("ecc_corrected_total"), 1.8446744073709552e19));
}

TEST(Plausible, AHairAboveAllIsAll) {
  EXPECT_EQ(plausible(device_metric("sm_active_percent"), 100.7), Reading(100.0));
  EXPECT_EQ(plausible(process_metric("cpu_percent"), 100.7), Reading(100.7));
}

TEST(Plausible, APartIsNoLargerThanItsWhole) {
  constexpr auto kUsed = device_metric("memory_used_bytes");
  constexpr auto kTotal = device_metric("memory_total_bytes");
  Row row(Scope::device, Reason::not_supported);
  row[kTotal] = 80 * kGib;
  row[kUsed] = 81 * kGib;
  row[device_metric("bar1_used_bytes")] = kGib;  // its whole is not known
  row[device_metric("temperature_gpu_celsius")] = -273.0;
  keep_plausible(row);
  EXPECT_EQ(row[kTotal], Reading(80 * kGib));
  EXPECT_EQ(row[kUsed], Reading(Reason::out_of_range));
  EXPECT_EQ(row[device_metric("bar1_used_bytes")], Reading(kGib));
  EXPECT_EQ(row[device_metric("temperature_gpu_celsius")], Reading(Reason::out_of_range));
  EXPECT_EQ(row[device_metric("power_draw_watts")], Reading(Reason::not_supported));
}

TEST(Plausible, TheDetailsToo) {
  DeviceDetails details;
  details[SampleKind::power] = {.count = 9.0, .seconds = 1.0, .max = 4e6, .min = 60.0, .mean = 70.0};
  details[SampleKind::gpu] = {.count = 9.0, .seconds = 1.0, .max = kAllOnes, .min = 0.0, .mean = 7.0};
  details.accounted.push_back({.pid = 7, .gpu_percent = 180.0, .memory_percent = 3.0, .memory_max_bytes = 9.2e18});
  details.row[detail_metric("clock_default_graphics_mhz")] = kAllOnes;
  keep_plausible(details);
  EXPECT_EQ(details[SampleKind::power].max, Reading(Reason::out_of_range));
  EXPECT_EQ(details[SampleKind::power].min, Reading(60.0));
  EXPECT_EQ(details[SampleKind::gpu].max, Reading(Reason::out_of_range));
  EXPECT_EQ(details.accounted[0].gpu_percent, Reading(Reason::out_of_range));
  EXPECT_EQ(details.accounted[0].memory_percent, Reading(3.0));
  EXPECT_EQ(details.accounted[0].memory_max_bytes, Reading(Reason::out_of_range));
  EXPECT_EQ(details.row[detail_metric("clock_default_graphics_mhz")], Reading(Reason::out_of_range));
}

}  // namespace
}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// Faults during discovery (init, count, handles, versions), and implausible numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/testing/sim_machine.hpp"

namespace gpulse::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class FaultSystem : public testing::Test {
 protected:
  void SetUp() override { sim_load(scenario(Form::newest)); }
  void TearDown() override { sim_clear(); }

  static SnapshotPtr with_fault(const char *function, int device, int code) {
    sim_clear();
    sim_fault(function, device, code);
    return observe(*make_sampler(patient()), false);
  }
  static std::vector<int> codes() {
    std::vector<int> all{77, 999};
    for (int code = 1; code <= 30; ++code) all.push_back(code);
    return all;
  }
  static bool older_may_answer(int code) { return code == 2 || code == 3 || code == 13 || code == 25 || code == 26; }
};

TEST_F(FaultSystem, Init) {
  for (const int code : codes()) {
    SCOPED_TRACE(code);
    const auto snapshot = with_fault("nvmlInit_v2", -1, code);
    const auto &source = snapshot->sources[0];
    if (older_may_answer(code) || code == 5) {  // the older init answers; a session that is there already will do
      // A session that we did not open has no devices here, but starting did not fail.
      if (code != 5) {
        EXPECT_EQ(source.devices, 2U);
      }
      continue;
    }
    EXPECT_TRUE(snapshot->devices.empty());
    EXPECT_FALSE(source.remedy.empty());
    const auto wanted = code == 4 || code == 17 ? "no permission to use the NVIDIA driver"
                        : code == 18            ? "NVIDIA driver version mismatch (kernel module unknown"
                        : code == 28            ? "found no GPU"
                                                : "NVIDIA driver not loaded";
    EXPECT_THAT(source.problem, HasSubstr(wanted));
  }
}

TEST_F(FaultSystem, Count) {
  for (const int code : codes()) {
    SCOPED_TRACE(code);
    const auto snapshot = with_fault("nvmlDeviceGetCount_v2", -1, code);
    const auto &source = snapshot->sources[0];
    if (older_may_answer(code)) {
      EXPECT_EQ(source.devices, 2U);
      continue;
    }
    EXPECT_TRUE(snapshot->devices.empty());
    EXPECT_THAT(source.problem, AnyOf(HasSubstr("code " + std::to_string(code)), HasSubstr("no permission")));
  }
}

TEST_F(FaultSystem, Handle) {
  for (const int code : codes()) {
    SCOPED_TRACE(code);
    const auto snapshot = with_fault("nvmlDeviceGetHandleByIndex_v2", 0, code);
    const auto &source = snapshot->sources[0];
    if (older_may_answer(code)) {
      EXPECT_EQ(source.devices, 2U);
      continue;
    }
    const bool lost = code == 15 || code == 16 || code == 999;
    ASSERT_EQ(snapshot->devices.size(), lost ? 2U : 1U);
    const auto &other = snapshot->devices.back();
    EXPECT_EQ(other.row[device_metric("temperature_gpu_celsius")], Reading(61.0));
    EXPECT_EQ(other.row[device_metric("power_draw_watts")], Reading(433.0));
    if (lost) {
      EXPECT_EQ(snapshot->devices[0].state, DeviceState::lost);
      EXPECT_EQ(snapshot->devices[0].row[device_metric("power_draw_watts")],
                code == 999 ? Reading(Reason::error, 999) : Reading(Reason::lost));
    } else {
      EXPECT_THAT(source.problem, HasSubstr("NVIDIA GPU 0 cannot be used"));
    }
  }
}

TEST_F(FaultSystem, VersionsAndShutdown) {
  for (const auto *function : {"nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion",
                               "nvmlSystemGetCudaDriverVersion_v2", "nvmlShutdown"}) {
    for (const int code : codes()) {
      SCOPED_TRACE(std::string(function) + " answers " + std::to_string(code));
      const auto snapshot = with_fault(function, -1, code);
      ASSERT_EQ(snapshot->devices.size(), 2U);
      EXPECT_EQ(snapshot->sources[0].problem, "");
      EXPECT_EQ(snapshot->devices[0].row[device_metric("temperature_gpu_celsius")], Reading(58.0));
      EXPECT_EQ(snapshot->devices[1].row[device_metric("power_draw_watts")], Reading(433.0));
    }
  }
}

// Without the version the numbers of the three slowdown fields are unknown.
TEST_F(FaultSystem, AnUnknownDriverVersionGuessesNoFieldNumbers) {
  const auto snapshot = with_fault("nvmlSystemGetDriverVersion", -1, 999);
  EXPECT_EQ(snapshot->devices[0].identity->driver, "");
  for (const auto id : {device_metric("throttled_sw_thermal_seconds"), device_metric("throttled_hw_thermal_seconds"),
                        device_metric("throttled_power_brake_seconds")}) {
    EXPECT_EQ(snapshot->devices[0].row[id], Reading(Reason::not_supported));
  }
}

TEST_F(FaultSystem, EverythingAtOnce) {
  for (const int code : codes()) {
    SCOPED_TRACE(code);
    const auto snapshot = with_fault("*", -1, code);
    EXPECT_TRUE(snapshot->devices.empty());
    EXPECT_NE(snapshot->sources[0].problem, "");
  }
}

// After discovery all its calls fail: there must be no number that was never read.
TEST_F(FaultSystem, OneDeviceFailsWhole) {
  for (const int code : codes()) {
    SCOPED_TRACE(code);
    sim_clear();
    auto sampler = make_sampler(patient());
    const auto before = observe(*sampler, false);
    sim_fault("*", 0, code);
    const auto after = sampler->sample(Pass::everything);
    ASSERT_EQ(after->devices.size(), 2U);
    const bool without_driver = code == 1 || code == 9 || code == 18;
    EXPECT_EQ(after->devices[0].state == DeviceState::lost, code == 15 || without_driver);
    for (const auto id : {device_metric("temperature_gpu_celsius"), device_metric("power_draw_watts"),
                          device_metric("memory_used_bytes"), device_metric("power_instant_watts"),
                          device_metric("clock_sm_mhz"), device_metric("ecc_corrected_total")}) {
      EXPECT_FALSE(after->devices[0].row[id].has_value()) << describe(id).key;
    }
    EXPECT_EQ(after->devices[1].row[device_metric("temperature_gpu_celsius")], Reading(61.0));
    EXPECT_EQ(after->devices[1].row[device_metric("power_draw_watts")], Reading(433.0));
  }
}

TEST_F(FaultSystem, NotANumberIsAReason) {
  sim_fault("nvmlGpmMetricsGet", 0, -2);
  const auto snapshot = observe(*make_sampler(patient()), true);
  for (const auto id : {device_metric("sm_active_percent"), device_metric("tensor_active_percent"),
                        device_metric("pcie_rx_bytes_per_second")}) {
    EXPECT_EQ(snapshot->devices[0].row[id], Reading(Reason::out_of_range));
    EXPECT_TRUE(snapshot->devices[1].row[id].has_value());
  }
  EXPECT_EQ(snapshot->devices[1].row[device_metric("sm_active_percent")], Reading(80.918));
}

// One implausible value per device, so that none hides another.
TEST_F(FaultSystem, NumbersThatCannotBeAreReasons) {
  struct Broken {
    const char *toml;
    MetricId metric;
  };
  for (const auto &broken : {Broken{"gpu_util = 255", device_metric("gpu_utilization_percent")},
                             Broken{"memory_util = 4294967295", device_metric("memory_utilization_percent")},
                             Broken{"encoder_util = 1000", device_metric("encoder_utilization_percent")},
                             Broken{"power_w = 4000000", device_metric("power_draw_watts")},
                             Broken{"power_instant_w = 4000000", device_metric("power_instant_watts")},
                             Broken{"temperature = 10000", device_metric("temperature_gpu_celsius")},
                             Broken{"temperature = -273", device_metric("temperature_gpu_celsius")},
                             Broken{"memory_total_mib = 8796093022208", device_metric("memory_total_bytes")},
                             Broken{"memory_temperature = 100000", device_metric("temperature_memory_celsius")},
                             Broken{"clock_sm = 4000000000", device_metric("clock_sm_mhz")},
                             Broken{"memory_used_mib = 100000000", device_metric("memory_used_bytes")},
                             Broken{"memory_reserved_mib = 17000000000000", device_metric("memory_reserved_bytes")},
                             Broken{"bar1_total_mib = 17000000000000", device_metric("bar1_total_bytes")},
                             Broken{"fans = 1\nfan_speed = 70000", device_metric("fan_speed_percent")},
                             Broken{"fans = 1\nfan_speed = 7\nfan_rpm = 4000000000", device_metric("fan_speed_rpm")},
                             Broken{"pstate = 4000000", device_metric("performance_state")},
                             Broken{"ecc_mode = 70000", device_metric("ecc_mode")},
                             Broken{"gpm = { smutil = 180 }", device_metric("sm_active_percent")},
                             Broken{"gpm = { dram = -3 }", device_metric("dram_active_percent")}}) {
    SCOPED_TRACE(broken.toml);
    sim_load(std::string("[[device]]\nprofile = \"h200\"\n") + broken.toml + "\n" + full_device(61, 433));
    const auto snapshot = observe(*make_sampler(patient()), std::string_view(broken.toml).starts_with("gpm"));
    ASSERT_EQ(snapshot->devices.size(), 2U);
    EXPECT_EQ(snapshot->devices[0].row[broken.metric], Reading(Reason::out_of_range));
    EXPECT_TRUE(snapshot->devices[1].row[broken.metric].has_value());
  }
}

// Counters are read at slightly different moments, so a busy engine can exceed 100 % by a little.
TEST_F(FaultSystem, AHairAboveAllIsAll) {
  sim_load("[[device]]\nprofile = \"h200\"\ngpm = { smutil = 100.7 }\n");
  const auto snapshot = observe(*make_sampler(patient()), true);
  EXPECT_EQ(snapshot->devices[0].row[device_metric("sm_active_percent")], Reading(100.0));
}

}  // namespace
}  // namespace gpulse::test

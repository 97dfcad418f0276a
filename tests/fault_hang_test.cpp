// SPDX-License-Identifier: Apache-2.0
// Hangs every function that the source calls: nobody waits beyond the deadline, the other device keeps its readings,
// and everything recovers once the call returns.
#include <gtest/gtest.h>

#include "sim/testing/sim_machine.hpp"
#include "source/host/host_source.hpp"

namespace gpulse::test {
namespace {

constexpr auto kTemperature = device_metric("temperature_gpu_celsius");

RunnerOptions hasty() {
  return {.call_deadline = 60ms, .discover_deadline = 60ms, .retry = 1ms, .check = 1h, .tick = 1s};
}

std::unique_ptr<Sampler> with_host(bool events) {
  std::vector<std::shared_ptr<Source>> sources{
      nvml::make_source(empty_root(), SourceOptions{.only = everything(), .events = events}),
      host::make_host_source(Sysroot())};
  auto options = hasty();
  options.only = everything();
  return std::make_unique<Sampler>(std::move(sources), Sysroot(), options);
}

class Hang : public testing::Test {
 protected:
  void TearDown() override { sim_clear(); }

  // Waits until both devices are back; on a busy machine one may be set aside by mistake for a moment.
  static bool recovers(Sampler &sampler) {
    for (const auto end = monotonic_now() + 20s; monotonic_now() < end; std::this_thread::sleep_for(2ms)) {
      const auto now = sampler.sample(Pass::everything);
      if (now->devices.size() < 2) continue;
      if (now->devices[0].row[kTemperature] == Reading(58.0) && now->devices[1].row[kTemperature] == Reading(61.0)) {
        return true;
      }
    }
    return false;
  }

  static bool other_is_well(const Snapshot &now) {
    return now.devices.size() == 2 && now.devices[1].row[kTemperature] == Reading(61.0) &&
           now.devices[1].row[device_metric("power_draw_watts")] == Reading(433.0);
  }

  // The function hangs for device 0 while it is being read.
  static void hang_while_reading(const std::string &name, Sampler &sampler) {
    SnapshotPtr now;
    // A busy machine may make the other device miss once; a bug would make it miss every time.
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto begun = monotonic_now();
      now = sampler.sample(Pass::everything);
      EXPECT_LT(monotonic_now() - begun, 3s);
      if (other_is_well(*now)) break;
      recovers(sampler);
    }
    ASSERT_EQ(now->devices.size(), 2U);
    EXPECT_EQ(now->devices[0].state, DeviceState::not_responding) << name;
    EXPECT_EQ(now->devices[0].row[kTemperature], Reading(Reason::not_responding));
    EXPECT_TRUE(other_is_well(*now));
    EXPECT_TRUE(now->host[host_metric("memory_total_bytes")].has_value());
  }

  // The function hangs from the start: the source stops responding, or the first device that it asks.
  static void hang_from_the_start(const std::string &name, bool events) {
    auto sampler = with_host(events);
    const auto begun = monotonic_now();
    const auto now = sampler->sample(Pass::everything);
    EXPECT_LT(monotonic_now() - begun, 3s);
    const bool device = !now->devices.empty() && now->devices[0].state == DeviceState::not_responding;
    EXPECT_TRUE(device || now->sources[0].problem.contains("not responding")) << name;
    EXPECT_TRUE(now->host[host_metric("memory_total_bytes")].has_value());
    sim_clear();
    EXPECT_TRUE(recovers(*sampler)) << name;
  }

  // False when the source does not call the function in this variant of the driver.
  static bool tries(const std::string &name, Form form) {
    sim_load(scenario(form));
    auto sampler = with_host(false);
    if (!recovers(*sampler)) ADD_FAILURE() << "not even without a fault";
    if (of_gpm(name)) {
      std::this_thread::sleep_for(100ms);
      sampler->sample(Pass::everything);
      std::this_thread::sleep_for(100ms);
    }
    if (sim_calls(name) == 0) return false;
    sim_clear();
    sim_fault(name, of_the_library(name) ? -1 : 0, -1);
    if (!of_the_library(name)) sampler->sample(Pass::everything);
    if (sim_calls(name) > 0) {
      hang_while_reading(name, *sampler);
      sim_clear();
      EXPECT_TRUE(recovers(*sampler));
    } else {
      sim_clear();
      sampler.reset();
      sim_fault(name, of_the_library(name) ? -1 : 0, -1);
      hang_from_the_start(name, false);
    }
    sim_clear();
    return true;
  }
};

TEST_F(Hang, InEveryFunction) {
  int tried = 0;
  for (const auto &name : source_functions()) {
    // These are tested below.
    if (of_events(name) || name == "nvmlShutdown" || name == "nvmlGpmSampleFree" || name.contains("Mig") ||
        name.contains("InstanceId") || name.contains("PciBusId")) {
      continue;
    }
    SCOPED_TRACE(name);
    EXPECT_TRUE(tries(name, Form::newest) || tries(name, Form::older) || tries(name, Form::wide_rows));
    ++tried;
  }
  RecordProperty("functions", tried);
}

TEST_F(Hang, AtTheEndHoldsUpNothing) {
  for (const auto *name : {"nvmlShutdown", "nvmlGpmSampleFree"}) {
    SCOPED_TRACE(name);
    sim_load(scenario(Form::newest));
    auto sampler = with_host(false);
    EXPECT_TRUE(recovers(*sampler));
    sim_fault(name, -1, -1);
    const auto begun = monotonic_now();
    sampler.reset();
    EXPECT_LT(monotonic_now() - begun, 3s);
    EXPECT_GT(sim_calls(name), 0U);
    sim_clear();
  }
}

TEST_F(Hang, InTheEventsHoldsUpNothing) {
  for (const auto *name : {"nvmlEventSetWait_v2", "nvmlEventSetFree"}) {
    SCOPED_TRACE(name);
    sim_load(scenario(Form::newest));
    sim_fault(name, -1, -1);
    auto sampler = with_host(true);
    EXPECT_TRUE(recovers(*sampler));
    const auto begun = monotonic_now();
    sampler.reset();
    EXPECT_LT(monotonic_now() - begun, 3s);
    sim_clear();
  }
  for (const auto *name : {"nvmlEventSetCreate", "nvmlDeviceGetSupportedEventTypes", "nvmlDeviceRegisterEvents"}) {
    SCOPED_TRACE(name);
    sim_load(scenario(Form::newest));
    sim_fault(name, -1, -1);
    hang_from_the_start(name, true);
  }
}

TEST_F(Hang, InTheListOfExcludedDevices) {
  sim_load("[driver]\nexcluded = 1\n[[device]]\nprofile = \"h100\"\n");
  for (const auto *name : {"nvmlInit_v2", "nvmlGetExcludedDeviceCount", "nvmlGetExcludedDeviceInfoByIndex"}) {
    SCOPED_TRACE(name);
    sim_fault(name, -1, -1);
    std::vector<std::shared_ptr<Source>> sources{
        nvml::make_source(empty_root(), SourceOptions{.events = false, .excluded_only = true})};
    Sampler sampler(std::move(sources), empty_root(), hasty());
    const auto begun = monotonic_now();
    EXPECT_TRUE(sampler.sample(Pass::everything)->sources[0].problem.contains("not responding"));
    EXPECT_LT(monotonic_now() - begun, 3s);
    sim_clear();
    SnapshotPtr now;
    for (const auto end = monotonic_now() + 10s; monotonic_now() < end; std::this_thread::sleep_for(2ms)) {
      now = sampler.sample(Pass::everything);
      if (now->sources[0].excluded.size() == 1) break;
    }
    EXPECT_EQ(now->sources[0].excluded.size(), 1U);
    EXPECT_TRUE(now->devices.empty());
  }
}

TEST_F(Hang, OfAnInstanceLeavesItsParentAndTheOthers) {
  sim_load(scenario(Form::split));
  auto sampler = with_host(false);
  for (const auto end = monotonic_now() + 10s; monotonic_now() < end;) {
    if (sampler->sample(Pass::everything)->devices.size() == 5) break;
  }
  sim_fault("nvmlGpmMigSampleGet", 0, -1);
  std::this_thread::sleep_for(100ms);
  SnapshotPtr now;
  for (int attempt = 0; attempt < 3; ++attempt) {
    now = sampler->sample(Pass::everything);
    ASSERT_EQ(now->devices.size(), 5U);
    if (now->devices[1].state == DeviceState::ok) break;
  }
  EXPECT_EQ(now->devices[0].state, DeviceState::ok);
  EXPECT_EQ(now->devices[1].row[kTemperature], Reading(61.0));
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(now->devices[i].state, DeviceState::not_responding);
  sim_clear();
  bool back = false;
  for (const auto end = monotonic_now() + 10s; !back && monotonic_now() < end; std::this_thread::sleep_for(2ms)) {
    now = sampler->sample(Pass::everything);
    back = std::all_of(now->devices.begin(), now->devices.end(),
                       [](const Device &device) { return device.state == DeviceState::ok; });
  }
  EXPECT_TRUE(back);
}

}  // namespace
}  // namespace gpulse::test

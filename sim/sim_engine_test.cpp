// SPDX-License-Identifier: Apache-2.0
// GPM, MIG and events of the simulator.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "testing/sim_library.hpp"

namespace gpulse::sim {
namespace {

class GpmPair {
 public:
  GpmPair() {
    nvml("nvmlGpmSampleAlloc", &request.sample1);
    nvml("nvmlGpmSampleAlloc", &request.sample2);
  }
  ~GpmPair() {
    nvml("nvmlGpmSampleFree", request.sample1);
    nvml("nvmlGpmSampleFree", request.sample2);
  }
  GpmPair(const GpmPair &) = delete;
  GpmPair &operator=(const GpmPair &) = delete;

  GpmMetricsGet<3> request{};
};

TEST_F(Sim, AveragesGpmBetweenSamples) {
  start(kH200 + "[device.gpm]\nsmutil = { steps = [[0, 10], [1, 50]] }\n");
  GpmPair pair;
  EXPECT_EQ(nvml("nvmlGpmSampleGet", gpu(), pair.request.sample1), Return::success);
  at(2);
  EXPECT_EQ(nvml("nvmlGpmSampleGet", gpu(), pair.request.sample2), Return::success);
  pair.request.version = 1;
  pair.request.count = 3;
  pair.request.metrics[0].id = 2;
  pair.request.metrics[1].id = 10;
  pair.request.metrics[2].id = 100;
  EXPECT_EQ(nvml("nvmlGpmMetricsGet", &pair.request), Return::success);
  EXPECT_NEAR(pair.request.metrics[0].value, 30, 1e-9);
  EXPECT_STREQ(pair.request.metrics[0].short_name, "smutil");
  EXPECT_NEAR(pair.request.metrics[1].value, 16.161, 1e-9);
  EXPECT_EQ(pair.request.metrics[2].result, Return::not_supported);
  fault("nvmlGpmMetricsGet", 0, -2);
  EXPECT_EQ(nvml("nvmlGpmMetricsGet", &pair.request), Return::success);
  EXPECT_TRUE(std::isnan(pair.request.metrics[0].value));
}

TEST_F(Sim, SplitsAGpu) {
  start(
      "[[device]]\nprofile = \"h100-mig\"\n[[process]]\npid = 21\nmemory_mib = 30\ngi = 5\nci = 0\n"
      "[[process]]\npid = 22\nmemory_mib = 40\ngi = 1\nci = 0\n");
  Utilization utilization{};
  EXPECT_EQ(nvml("nvmlDeviceGetUtilizationRates", gpu(), &utilization), Return::not_supported);
  Handle instance = nullptr;
  EXPECT_EQ(nvml("nvmlDeviceGetMigDeviceHandleByIndex", gpu(), 3U, &instance), Return::not_found);
  ASSERT_EQ(nvml("nvmlDeviceGetMigDeviceHandleByIndex", gpu(), 1U, &instance), Return::success);
  std::array<char, 96> text{};
  EXPECT_EQ(nvml("nvmlDeviceGetName", instance, text.data(), 96U), Return::success);
  EXPECT_STREQ(text.data(), "NVIDIA H100 80GB HBM3 MIG 2g.20gb");
  EXPECT_EQ(nvml("nvmlDeviceGetUUID", instance, text.data(), 96U), Return::success);
  EXPECT_EQ(std::string(text.data()).substr(0, 4), "MIG-");
  DeviceAttributes attributes{};
  EXPECT_EQ(nvml("nvmlDeviceGetAttributes_v2", instance, &attributes), Return::success);
  EXPECT_EQ(attributes.multiprocessors, 32U);
  EXPECT_EQ(attributes.memory_mib, 20096U);
  std::uint32_t count = 4;
  std::array<ProcessInfoV2, 4> rows{};
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses_v2", instance, &count, static_cast<void *>(rows.data())),
            Return::success);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(rows[0].pid, 21U);
  GpmPair pair;
  EXPECT_EQ(nvml("nvmlGpmMigSampleGet", gpu(), 1U, pair.request.sample1), Return::success);
  EXPECT_EQ(nvml("nvmlGpmMigSampleGet", gpu(), 1U, pair.request.sample2), Return::success);
  pair.request.version = 1;
  pair.request.count = 1;
  pair.request.metrics[0].id = 2;
  EXPECT_EQ(nvml("nvmlGpmMetricsGet", &pair.request), Return::success);
  EXPECT_NEAR(pair.request.metrics[0].value, 88.25, 1e-9);
}

TEST_F(Sim, DeliversEventsFromRegistrationOn) {
  start(kH200 + "[[event]]\ntime = 1\ntype = \"xid\"\ndata = 31\n[[event]]\ntime = 5\ntype = \"xid\"\ndata = 79\n");
  at(2);
  EventSet set = nullptr;
  ASSERT_EQ(nvml("nvmlEventSetCreate", &set), Return::success);
  EXPECT_EQ(nvml("nvmlDeviceRegisterEvents", gpu(), event::kXid, set), Return::success);
  EventData data{};
  EXPECT_EQ(nvml("nvmlEventSetWait_v2", set, &data, 1U), Return::timeout);
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    at(6);
  });
  EXPECT_EQ(nvml("nvmlEventSetWait_v2", set, &data, 5000U), Return::success);
  later.join();
  EXPECT_EQ(data.data, 79U);
  EXPECT_EQ(data.device, gpu());
  EXPECT_EQ(nvml("nvmlEventSetWait_v2", set, &data, 1U), Return::timeout);
  EXPECT_EQ(nvml("nvmlEventSetFree", set), Return::success);
}

}  // namespace
}  // namespace gpulse::sim

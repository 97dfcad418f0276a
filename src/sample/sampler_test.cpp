// SPDX-License-Identifier: Apache-2.0
#include "sample/sampler.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "sample/fake_source.hpp"

namespace gpulse {
namespace {

using namespace std::chrono_literals;
using Fake = FakeSource;

class SamplerTest : public testing::Test {
 protected:
  void TearDown() override {
    sampler_.reset();
    source_->release();
    EXPECT_EQ(source_->broken_rules(), 0U);
  }
  void start(std::vector<Fake::FakeDevice> devices) {
    source_->devices(std::move(devices));
    sampler_ = std::make_unique<Sampler>(
        std::vector<std::shared_ptr<Source>>{source_}, Sysroot(),
        RunnerOptions{.call_deadline = 150ms, .discover_deadline = 300ms, .retry = 1ms, .check = 0ms, .tick = 100ms});
  }

  std::shared_ptr<Fake> source_ = std::make_shared<Fake>();
  std::unique_ptr<Sampler> sampler_;
};

TEST_F(SamplerTest, InstancesTakeNoNumberFromWholeDevices) {
  start({{"GPU-0"}, {.uuid = "MIG-1", .parent = "GPU-0"}, {"GPU-2"}});
  const auto snapshot = sampler_->sample(Pass::everything);
  ASSERT_EQ(snapshot->devices.size(), 3U);
  EXPECT_EQ(snapshot->devices[0].identity->uuid, "GPU-0");
  EXPECT_EQ(snapshot->devices[1].identity->uuid, "MIG-1");
  EXPECT_EQ(snapshot->devices[2].identity->uuid, "GPU-2");
  EXPECT_EQ(text(snapshot->devices[0].id), "0");
  EXPECT_EQ(text(snapshot->devices[1].id), "0:0");
  EXPECT_EQ(text(snapshot->devices[2].id), "1");
  EXPECT_EQ(snapshot->self[self_metric("driver_calls")], Reading(12.0));
}

TEST_F(SamplerTest, ADeviceKeepsItsNumber) {
  start({{.uuid = "PCI-0", .pci = "0000:01:00.0", .state = DeviceState::asleep},
         {.uuid = "GPU-1", .pci = "0000:02:00.0"}});
  EXPECT_EQ(sampler_->sample(Pass::everything)->devices[0].state, DeviceState::asleep);
  source_->devices({{.uuid = "GPU-3", .pci = "0000:00:03.0"},
                    {.uuid = "GPU-0", .pci = "0000:01:00.0"},
                    {.uuid = "GPU-1", .pci = "0000:02:00.0"}});
  const auto snapshot = sampler_->sample(Pass::everything);
  ASSERT_EQ(snapshot->devices.size(), 3U);
  EXPECT_EQ(snapshot->devices[0].identity->uuid, "GPU-0");
  EXPECT_EQ(snapshot->devices[1].identity->uuid, "GPU-1");
  EXPECT_EQ(snapshot->devices[2].identity->uuid, "GPU-3");
}

TEST_F(SamplerTest, ASnapshotStaysAsItIsForAsLongAsSomebodyHasIt) {
  start({{"GPU-0"}, {"GPU-1"}});
  const auto kept = sampler_->sample(Pass::everything);
  const auto copy = *kept;
  source_->devices({{"GPU-2"}});
  // Those that nobody has any more are written over.
  for (int i = 0; i < 4; ++i) {
    const auto next = sampler_->sample(Pass::everything);
    EXPECT_NE(next, kept);
    EXPECT_GT(next->time, copy.time);
    ASSERT_EQ(next->devices.size(), 3U);
    EXPECT_EQ(next->devices[0].state, DeviceState::lost);
    EXPECT_EQ(next->devices[0].row[Fake::kUtilization], Reading(Reason::lost));
    EXPECT_EQ(next->devices[2].identity->uuid, "GPU-2");
    EXPECT_TRUE(next->devices[2].row[Fake::kUtilization].has_value());
  }
  EXPECT_EQ(kept->time, copy.time);
  ASSERT_EQ(kept->devices.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(kept->devices[i].state, DeviceState::ok);
    EXPECT_EQ(kept->devices[i].identity, copy.devices[i].identity);
    EXPECT_EQ(kept->devices[i].row, copy.devices[i].row);
  }
}

TEST_F(SamplerTest, KeepsTheLastEventsInOrder) {
  start({{"GPU-0"}});
  for (int i = 0; i < 100; ++i) {
    source_->happen({.time = wall_now(), .device = "GPU-0", .kind = EventKind::xid, .code = i, .text = {}});
  }
  sampler_->sample(Pass::everything);
  const auto snapshot = sampler_->sample(Pass::everything);
  ASSERT_EQ(snapshot->events.size(), 64U);
  EXPECT_EQ(snapshot->events.front().code, 36);
  EXPECT_EQ(snapshot->events.back().code, 99);
}

TEST_F(SamplerTest, AStopEndsTheWaitForADiscoveryThatHangs) {
  start({{"GPU-0"}});
  source_->hang(Fake::kEverything);
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  const auto begun = monotonic_now();
  // Only the stop can end a wait that long.
  EXPECT_NE(sampler_->sample_within(Pass::everything, 1h, stop.get_token()), nullptr);
  EXPECT_LT(monotonic_now() - begun, 250ms);
}

TEST_F(SamplerTest, SeveralMaySampleAtTheSameTime) {
  start({{"GPU-0"}, {"GPU-1"}});
  std::vector<std::jthread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&] {
      for (int n = 0; n < 20; ++n) EXPECT_EQ(sampler_->sample(Pass::fast)->devices.size(), 2U);
    });
  }
}

}  // namespace
}  // namespace gpulse

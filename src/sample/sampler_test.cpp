// SPDX-License-Identifier: Apache-2.0
#include "sample/sampler.hpp"

#include <gtest/gtest.h>

#include <atomic>

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
  // Under `until`: what a reader would do.
  template <class Wanted>
  SnapshotPtr wait_for(Wanted wanted) {
    SnapshotPtr seen;
    for (const auto end = monotonic_now() + 10s; monotonic_now() < end;) {
      const auto next = sampler_->wait_newer(seen, end);
      if (next != nullptr && wanted(*next)) return next;
      seen = next;
    }
    return nullptr;
  }

  std::shared_ptr<Fake> source_ = std::make_shared<Fake>();
  std::unique_ptr<Sampler> sampler_;
};

TEST_F(SamplerTest, WholeDevicesGetTheFirstNumbers) {
  start({{"GPU-0"}, {.uuid = "MIG-1", .parent = "GPU-0"}, {"GPU-2"}});
  const auto snapshot = sampler_->sample(Pass::everything);
  ASSERT_EQ(snapshot->devices.size(), 3U);
  EXPECT_EQ(snapshot->devices[0].identity->uuid, "GPU-0");
  EXPECT_EQ(snapshot->devices[1].identity->uuid, "GPU-2");
  EXPECT_EQ(snapshot->devices[2].identity->uuid, "MIG-1");
  EXPECT_EQ(snapshot->devices[2].parent, 0U);
  EXPECT_EQ(snapshot->devices[0].parent, std::nullopt);
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

TEST_F(SamplerTest, KeepsTheLastEventsInOrder) {
  start({{"GPU-0"}});
  for (int i = 0; i < 100; ++i) {
    source_->happen({.time = wall_now(), .device = "GPU-0", .kind = "xid", .code = i, .text = {}});
  }
  sampler_->sample(Pass::everything);
  const auto snapshot = sampler_->sample(Pass::everything);
  ASSERT_EQ(snapshot->events.size(), 64U);
  EXPECT_EQ(snapshot->events.front().code, 36);
  EXPECT_EQ(snapshot->events.back().code, 99);
}

TEST_F(SamplerTest, LatestIsNullBeforeTheFirst) {
  start({{"GPU-0"}});
  EXPECT_EQ(sampler_->latest(), nullptr);
  EXPECT_EQ(sampler_->wait_newer(nullptr, monotonic_now() + 5ms), nullptr);
}

TEST_F(SamplerTest, ReadersNeverWaitForAHungDriver) {
  start({{"GPU-0"}, {"GPU-1"}});
  sampler_->start(10ms);
  ASSERT_NE(wait_for([](const Snapshot &s) { return s.devices.size() == 2; }), nullptr);
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> longest_ns = 0;
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      SnapshotPtr seen;
      while (!stop) {
        const auto begun = monotonic_now();
        const auto snapshot = sampler_->latest();
        longest_ns = std::max<std::int64_t>(longest_ns, (monotonic_now() - begun).count());
        EXPECT_EQ(snapshot->devices.size(), 2U);
        if (auto next = sampler_->wait_newer(seen, monotonic_now() + 5ms)) seen = std::move(next);
      }
    });
  }
  source_->hang("GPU-0");
  const auto hung = wait_for([](const Snapshot &s) { return s.devices[0].state == DeviceState::not_responding; });
  ASSERT_NE(hung, nullptr);
  EXPECT_EQ(hung->devices[1].row[Fake::kUtilization], Reading(10.0));
  source_->release();
  EXPECT_NE(wait_for([](const Snapshot &s) { return s.devices[0].state == DeviceState::ok; }), nullptr);
  stop = true;
  readers.clear();
  EXPECT_LT(longest_ns, std::chrono::nanoseconds(100ms).count());
}

TEST_F(SamplerTest, ADiscoveryThatHangsDoesNotHoldBackTheEnd) {
  start({{"GPU-0"}});
  source_->hang(Fake::kEverything);
  sampler_->start(1h);  // so patient that only the stop ends the waiting
  std::this_thread::sleep_for(50ms);
  const auto begun = monotonic_now();
  sampler_.reset();
  EXPECT_LT(monotonic_now() - begun, 1s);
}

TEST_F(SamplerTest, StartsAndStopsOftenWhileOthersSample) {
  start({{"GPU-0"}, {"GPU-1"}});
  std::jthread other([&](const std::stop_token &stop) {
    while (!stop.stop_requested()) sampler_->sample(Pass::fast);
  });
  for (int i = 0; i < 20; ++i) {
    sampler_->start(1ms);
    EXPECT_NE(wait_for([](const Snapshot &s) { return s.devices.size() == 2; }), nullptr);
    sampler_->stop();
  }
}

}  // namespace
}  // namespace gpulse

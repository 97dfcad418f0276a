// SPDX-License-Identifier: Apache-2.0
#include "monitor/region.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "monitor/testing.hpp"

namespace gpulse::monitor {
namespace {

using namespace testing;

constexpr double kGiB = 1024.0 * 1024 * 1024;

// A device that draws 500 W for ever and may draw 700. It is sampled ten times a second; its counter is read at every
// full second, in between the samples repeat it.
class Energy : public ::testing::Test {
 protected:
  // Joules that the counter shows at this second.
  std::function<Reading(int second)> counter_ = [](int second) { return Reading(500.0 * second); };
  Reading limit_ = 700.0;

  RegionUse use(std::chrono::nanoseconds begin, std::chrono::nanoseconds end, std::chrono::nanoseconds until) {
    SamplePtr newest;
    std::unique_ptr<Region> region;
    for (auto now = 9000ms; now <= until; now += 100ms) {
      if (!region && now > begin) region = std::make_unique<Region>("step", Monotonic(begin), newest);
      if (region && now > end) region->end(Monotonic(end));
      auto device = make_device(0, "GPU-0");
      device.row[kPower] = 500.0;
      device.row[kPowerLimit] = limit_;
      device.row[kEnergy] = counter_(static_cast<int>(now / 1000ms));
      newest = make_sample(now, {device}, newest);
      if (region) region->add(*newest);
    }
    return region->use("GPU-0").value();
  }
};

TEST_F(Energy, BetweenTwoReadingsThereAreBoundsAndNoFigure) {
  const auto use = this->use(10'200ms, 10'700ms, 11s);
  // At 10 s the counter says 5000 J and at 11 s 5500 J: the device can have used 350 of these 500 J at 700 W in the
  // half second outside of the region. What it shows may be 100 ms old: 70 J more or less.
  EXPECT_NEAR(use.energy_min.value(), 500 - 350 - 70, 1e-6);
  EXPECT_NEAR(use.energy_max.value(), 0.5 * 700 + 70, 1e-6);
  EXPECT_FALSE(use.energy);
  EXPECT_TRUE(use.settled);
}

TEST_F(Energy, AShortRegionHasAnUpperBoundAndNoFigure) {
  const auto use = this->use(10'200ms, 10'210ms, 11s);
  EXPECT_EQ(use.energy_min, Reading(0.0));
  EXPECT_NEAR(use.energy_max.value(), 0.01 * 700 + 70, 1e-6);
  EXPECT_FALSE(use.energy);
}

TEST_F(Energy, ALongRegionHasAFigure) {
  const auto use = this->use(10'500ms, 20'500ms, 21s);
  EXPECT_NEAR(use.energy.value(), 5000, 1e-6);
  EXPECT_NEAR(use.energy_max.value(), 5500 + 70, 1e-6);
  EXPECT_NEAR(use.energy_min.value(), 5500 - 700 - 70, 1e-6);
}

TEST_F(Energy, BeforeTheNextReadingItIsNotSettled) {
  const auto use = this->use(10'200ms, 10'700ms, 10'900ms);
  EXPECT_FALSE(use.settled);
  EXPECT_NEAR(use.energy_max.value(), 0.5 * 700 + 70, 1e-6);
  EXPECT_EQ(use.energy_min, Reading(0.0));
}

TEST_F(Energy, ACounterThatIsResetWithinIsNotCountedOn) {
  counter_ = [](int second) { return Reading(second < 15 ? 500.0 * second : 500.0 * (second - 15)); };
  const auto use = this->use(10'500ms, 20'500ms, 21s);
  // Readings from 15 s (0 J) to 21 s (3000 J); for the 4.5 s before them anything up to the limit.
  EXPECT_NEAR(use.energy_max.value(), 3000 + 4.5 * 700 + 70, 1e-6);
  EXPECT_NEAR(use.energy_min.value(), 3000 - 0.5 * 700 - 70, 1e-6);
  EXPECT_FALSE(use.energy);
}

TEST_F(Energy, ACounterThatIsResetAfterwardsTakesNothingAway) {
  counter_ = [](int second) { return Reading(second < 21 ? 500.0 * second : 10.0); };
  const auto use = this->use(10'500ms, 20'500ms, 24s);
  EXPECT_NEAR(use.energy.value(), 5000, 1e-6);
  EXPECT_NEAR(use.energy_max.value(), 5000 + 0.5 * 700 + 70, 1e-6);
  EXPECT_NEAR(use.energy_min.value(), 5000 - 0.5 * 700 - 70, 1e-6);
  EXPECT_TRUE(use.settled);
}

TEST_F(Energy, WithoutALimitOnlyReadingsOnBothSidesBoundIt) {
  limit_ = Reason::not_supported;
  const auto both = use(10'200ms, 10'700ms, 11s);
  EXPECT_NEAR(both.energy_max.value(), 500 + 50, 1e-6);
  EXPECT_FALSE(use(10'200ms, 10'700ms, 10'900ms).energy_max);
}

// The first sample of a monitor takes a while: its counter was read early in it.
TEST(RegionEnergy, AReadingFromTheBeginningOfALongSampleIsAllowedFor) {
  const auto sample = [](std::chrono::nanoseconds at, double joules, std::chrono::nanoseconds took) {
    auto device = make_device(0, "GPU-0");
    device.row[kPowerLimit] = 700.0;
    device.row[kEnergy] = joules;
    auto made = std::make_unique<Sample>();
    made->snapshot = make_sample(at, {device})->snapshot;
    made->at = Monotonic(at);
    made->took = took;
    made->points = region_points(*made, {});
    return SamplePtr(made.release());
  };
  // Read at 9.8 s, handed out at 10 s; 500 W all the time.
  Region region("step", Monotonic(10s), sample(10s, 4900, 200ms));
  region.end(Monotonic(20s));
  region.add(*sample(20'100ms, 10'050, 0ms));
  const auto use = region.use("GPU-0").value();
  EXPECT_NEAR(use.energy.value(), 5000, 1e-6);
  EXPECT_NEAR(use.energy_max.value(), 5150 + 70, 1e-6);
  EXPECT_NEAR(use.energy_min.value(), 5150 - 0.1 * 700 - 0.3 * 700, 1e-6);
}

TEST_F(Energy, ADeviceThatDoesNotCountSaysSo) {
  counter_ = [](int) { return Reading(Reason::not_supported); };
  const auto use = this->use(10'500ms, 20'500ms, 21s);
  EXPECT_FALSE(use.energy);
  EXPECT_FALSE(use.energy_min);
  EXPECT_FALSE(use.energy_max);
  EXPECT_TRUE(use.settled);
}

TEST_F(Energy, ACounterThatStandsStillIsNoEnergy) {
  counter_ = [](int) { return Reading(4000.0); };
  const auto use = this->use(10'500ms, 20'500ms, 24s);
  EXPECT_EQ(use.energy_min, Reading(0.0));
}

Device with_memory(double gib, double percent) {
  auto device = make_device(0, "GPU-0");
  device.row[kMemoryUsed] = gib * kGiB;
  device.row[kMemoryTotal] = 80 * kGiB;
  device.row[kUtilization] = percent;
  device.row[kProcessCount] = 1;
  return device;
}

TEST(RegionMemory, IsThatOfTheNearestSamplesAndThePeakWithin) {
  Region region("load", Monotonic(10'400ms), make_sample(10s, {with_memory(10, 0)}));
  region.add(*make_sample(11s, {with_memory(30, 50)}));
  region.add(*make_sample(12s, {with_memory(20, 70)}));
  region.end(Monotonic(12'200ms));
  EXPECT_FALSE(region.add(*make_sample(13s, {with_memory(70, 90)})));
  const auto use = region.use("GPU-0").value();
  EXPECT_EQ(use.memory_begin, Reading(10 * kGiB));
  EXPECT_EQ(use.memory_end, Reading(20 * kGiB));
  EXPECT_EQ(use.memory_peak, Reading(30 * kGiB));
  EXPECT_EQ(use.memory_total, Reading(80 * kGiB));
  EXPECT_EQ(use.utilization, Reading(60.0));
  EXPECT_EQ(use.samples, 2U);
  EXPECT_NEAR(use.wall.count(), 1.8, 1e-9);
  EXPECT_TRUE(use.settled);
  EXPECT_TRUE(use.true_activity.is(Reason::not_supported));
}

TEST(RegionMemory, WithoutASampleWithinItIsThatOfTheSamplesAround) {
  Region region("step", Monotonic(10'400ms), make_sample(10s, {with_memory(10, 40)}));
  region.end(Monotonic(10'402ms));
  region.add(*make_sample(11s, {with_memory(30, 80)}));
  const auto use = region.use("GPU-0").value();
  EXPECT_EQ(use.samples, 0U);
  EXPECT_EQ(use.memory_peak, Reading(10 * kGiB));
  EXPECT_EQ(use.utilization, Reading(40.0));
}

TEST(RegionMemory, WhatAShortRegionTookIsSeenRightAfterIt) {
  // Taken 1 ms after the beginning and 5 ms after the end, where the nearest ones would show nothing of it.
  Region region("get_model", Monotonic(10'000ms), make_sample(9'990ms, {with_memory(10, 0)}));
  region.add(*make_sample(10'001ms, {with_memory(18, 0)}));
  region.end(Monotonic(10'002ms));
  region.add(*make_sample(10'007ms, {with_memory(18, 0)}));
  const auto use = region.use("GPU-0").value();
  EXPECT_EQ(use.memory_begin, Reading(10 * kGiB));
  EXPECT_EQ(use.memory_end, Reading(18 * kGiB));

  Region none_within("get_model", Monotonic(10'000ms), make_sample(9'999ms, {with_memory(10, 0)}));
  none_within.end(Monotonic(10'000ms + 500us));
  none_within.add(*make_sample(10'007ms, {with_memory(18, 0)}));
  EXPECT_EQ(none_within.use("GPU-0").value().memory_end, Reading(18 * kGiB));
}

TEST(RegionMemory, OfTheProcessIsItsOwn) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  const std::vector<Process> processes{make_process(self, 0, 4 * kGiB), make_process(self, 1, 1 * kGiB),
                                       make_process(self + 1, 0, 9 * kGiB)};
  Region region("load", Monotonic(10s), make_sample(9s, {with_memory(10, 0)}));
  region.add(*make_sample(11s, {with_memory(30, 0)}, {}, processes));
  const auto use = region.use("GPU-0").value();
  EXPECT_EQ(use.process_memory_begin, Reading(0.0));
  EXPECT_EQ(use.process_memory_peak, Reading(4 * kGiB));
}

TEST(RegionMemory, OfTheProcessIsNotGuessed) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  // The driver lists pids of another namespace: ours may be among them.
  auto foreign = make_process(self, 0, 4 * kGiB);
  foreign.foreign = true;
  Region region("load", Monotonic(10s), make_sample(11s, {with_memory(30, 0)}, {}, {foreign}));
  EXPECT_TRUE(region.use("GPU-0")->process_memory_peak.is(Reason::not_supported));
  // It lists us without a figure.
  Region other("load", Monotonic(10s),
               make_sample(11s, {with_memory(30, 0)}, {}, {make_process(self, 0, Reason::no_permission)}));
  EXPECT_TRUE(other.use("GPU-0")->process_memory_peak.is(Reason::no_permission));
  // It does not list anybody.
  auto silent = with_memory(30, 0);
  silent.row[kProcessCount] = Reason::no_permission;
  Region third("load", Monotonic(10s), make_sample(11s, {silent}));
  EXPECT_TRUE(third.use("GPU-0")->process_memory_peak.is(Reason::no_permission));
}

TEST(Region, KnowsOnlyDevicesThatWereThere) {
  Region region("step", Monotonic(10s), {});
  EXPECT_FALSE(region.use("GPU-0"));
  region.add(*make_sample(11s, {with_memory(30, 0)}));
  EXPECT_TRUE(region.use("GPU-0"));
  EXPECT_FALSE(region.use("GPU-1"));
  EXPECT_EQ(region.uuids(), std::vector<std::string>{"GPU-0"});
}

TEST(Region, ADeviceThatIsLostKeepsWhatWasSeen) {
  Region region("step", Monotonic(10'500ms), make_sample(10s, {with_memory(10, 0)}));
  region.add(*make_sample(11s, {with_memory(30, 50)}));
  region.add(*make_sample(12s, {}));
  region.end(Monotonic(12'500ms));
  EXPECT_FALSE(region.add(*make_sample(13s, {})));
  const auto use = region.use("GPU-0").value();
  EXPECT_TRUE(use.settled);
  EXPECT_EQ(use.memory_peak, Reading(30 * kGiB));
}

TEST(Region, WithoutDevicesSettlesAfterItsEnd) {
  Region region("step", Monotonic(10s), {});
  region.end(Monotonic(11s));
  EXPECT_TRUE(region.add(*make_sample(10'500ms, {})));
  EXPECT_FALSE(region.add(*make_sample(12s, {})));
}

TEST(Region, OnlyTheFirstEndCounts) {
  Region region("step", Monotonic(10s), make_sample(9s, {with_memory(10, 0)}));
  region.end(Monotonic(12s));
  region.end(Monotonic(15s));
  EXPECT_NEAR(region.use("GPU-0")->wall.count(), 2, 1e-9);
  // An end before the beginning is the beginning.
  Region wrong("step", Monotonic(10s), make_sample(9s, {with_memory(10, 0)}));
  wrong.end(Monotonic(5s));
  EXPECT_EQ(wrong.use("GPU-0")->wall.count(), 0);
}

TEST(Region, IsLookedAtWhileSamplesCome) {
  Region region("step", Monotonic(1s), {});
  std::jthread adding([&] {
    for (int i = 1; i <= 2000; ++i) region.add(*make_sample(1s + i * 1ms, {with_memory(1, 50)}));
  });
  while (region.use("GPU-0").value_or(RegionUse{}).samples < 2000) std::this_thread::yield();
  region.end(Monotonic(4s));
  EXPECT_EQ(region.use("GPU-0")->utilization, Reading(50.0));
}

}  // namespace
}  // namespace gpulse::monitor

// SPDX-License-Identifier: Apache-2.0
#include "source/intel/meters.hpp"

#include <gtest/gtest.h>

namespace gpulse::intel {
namespace {

using namespace std::chrono_literals;

constexpr Monotonic kStart{1h};
constexpr std::uint64_t kJoule = 1'000'000;

TEST(Energy, OneReadingIsNoPower) {
  EnergyMeter meter;
  EXPECT_TRUE(meter.update(25'637'161'804, kStart, 55).is(Reason::not_sampled));
}

TEST(Energy, PowerIsTheDifferenceOverTheTime) {
  EnergyMeter meter;
  meter.update(1000 * kJoule, kStart, 55);
  EXPECT_DOUBLE_EQ(meter.update(1003 * kJoule, kStart + 100ms, 55).value(), 30);
  EXPECT_DOUBLE_EQ(meter.update(1003 * kJoule + kJoule / 2, kStart + 300ms, 55).value(), 2.5);
}

TEST(Energy, CounterThatStandsStillIsNoPowerOfZero) {
  EnergyMeter meter;
  meter.update(1000 * kJoule, kStart, 55);
  EXPECT_TRUE(meter.update(1000 * kJoule, kStart + 100ms, 55).is(Reason::not_sampled));
  // A slowly updated counter: 6 J in 200 ms.
  EXPECT_DOUBLE_EQ(meter.update(1006 * kJoule, kStart + 200ms, 55).value(), 30);
  EXPECT_DOUBLE_EQ(meter.update(1006 * kJoule, kStart + 300ms, 55).value(), 30);
  EXPECT_TRUE(meter.update(1006 * kJoule, kStart + 2300ms, 55).is(Reason::not_sampled));
}

TEST(Energy, GraphicsPartOfAProcessorMayBeOff) {
  EnergyMeter meter;
  meter.update(5 * kJoule, kStart, 0, 262'143'328'850);
  EXPECT_DOUBLE_EQ(meter.update(5 * kJoule, kStart + 100ms, 0, 262'143'328'850).value(), 0);
}

TEST(Energy, TwoReadingsAtOnceKeepTheLastPower) {
  EnergyMeter meter;
  meter.update(0, kStart, 55);
  meter.update(4 * kJoule, kStart + 200ms, 55);
  EXPECT_DOUBLE_EQ(meter.update(4 * kJoule + 61, kStart + 201ms, 55).value(), 20);
  // The short interval is counted with the next one.
  EXPECT_DOUBLE_EQ(meter.update(5 * kJoule, kStart + 300ms, 55).value(), 10);
}

TEST(Energy, CounterThatGoesBackGivesNoNumberOnce) {
  EnergyMeter meter;
  meter.update(1000 * kJoule, kStart, 55);
  EXPECT_TRUE(meter.update(2 * kJoule, kStart + 1s, 55).is(Reason::not_sampled));
  EXPECT_DOUBLE_EQ(meter.update(12 * kJoule, kStart + 2s, 55).value(), 10);
}

TEST(Energy, CounterThatIsKnownToWrapGoesOn) {
  constexpr std::uint64_t kRange = 262'143'328'850;  // max_energy_range_uj of a current processor
  EnergyMeter meter;
  meter.update(kRange - kJoule, kStart, 45, kRange);
  EXPECT_DOUBLE_EQ(meter.update(4 * kJoule, kStart + 1s, 45, kRange).value(), 5);
  // A count beyond the range cannot be compared with.
  meter.forget();
  meter.update(kRange + 5, kStart, 45, kRange);
  EXPECT_TRUE(meter.update(0, kStart + 1s, 45, kRange).is(Reason::not_sampled));
}

TEST(Energy, MoreThanTwiceTheLimitIsNotBelieved) {
  EnergyMeter meter;
  meter.update(0, kStart, 55);
  EXPECT_DOUBLE_EQ(meter.update(110 * kJoule, kStart + 1s, 55).value(), 110);
  EXPECT_TRUE(meter.update(221 * kJoule, kStart + 2s, 55).is(Reason::out_of_range));
  EXPECT_DOUBLE_EQ(meter.update(231 * kJoule, kStart + 3s, 55).value(), 10);
}

TEST(Energy, WithoutALimitOnlyTheAbsurdIsRefused) {
  EnergyMeter meter;
  meter.update(0, kStart, 0);
  EXPECT_DOUBLE_EQ(meter.update(900 * kJoule, kStart + 1s, 0).value(), 900);
  EXPECT_TRUE(meter.update(~std::uint64_t{0}, kStart + 2s, 0).is(Reason::out_of_range));
}

TEST(Energy, SoLongThatTheRegisterMayHaveGoneRoundIsNotTold) {
  // 262,144 J at 190 W are 1379 s.
  EnergyMeter meter;
  meter.update(0, kStart, 190);
  EXPECT_DOUBLE_EQ(meter.update(1300 * kJoule, kStart + 1300s, 190).value(), 1);
  EXPECT_TRUE(meter.update(1400 * kJoule, kStart + 2700s, 190).is(Reason::not_sampled));
}

TEST(Share, OfTheTimeBetweenTwoReadings) {
  ShareMeter meter;
  EXPECT_TRUE(meter.update(2'547'784, 1ms, kStart).is(Reason::not_sampled));
  EXPECT_DOUBLE_EQ(meter.update(2'547'784 + 75, 1ms, kStart + 100ms).value(), 75);
  EXPECT_DOUBLE_EQ(meter.update(2'547'784 + 75, 1ms, kStart + 200ms).value(), 0);
  EXPECT_DOUBLE_EQ(meter.update(2'547'784 + 275, 1ms, kStart + 400ms).value(), 100);
}

TEST(Share, MicrosecondsOfANpu) {
  ShareMeter meter;
  meter.update(5'000'000, 1us, kStart);
  EXPECT_DOUBLE_EQ(meter.update(5'250'000, 1us, kStart + 1s).value(), 25);
}

TEST(Share, HairMoreThanAllIsAll) {
  ShareMeter meter;
  meter.update(0, 1ms, kStart);
  EXPECT_DOUBLE_EQ(meter.update(105, 1ms, kStart + 100ms).value(), 100);
  EXPECT_TRUE(meter.update(305, 1ms, kStart + 200ms).is(Reason::out_of_range));
}

TEST(Share, CounterThatGoesBackGivesNoNumberOnce) {
  ShareMeter meter;
  meter.update(500, 1ms, kStart);
  EXPECT_TRUE(meter.update(3, 1ms, kStart + 100ms).is(Reason::not_sampled));
  EXPECT_DOUBLE_EQ(meter.update(53, 1ms, kStart + 200ms).value(), 50);
}

TEST(Share, TwoReadingsAtOnceKeepTheLastShare) {
  ShareMeter meter;
  meter.update(0, 1ms, kStart);
  meter.update(50, 1ms, kStart + 100ms);
  EXPECT_DOUBLE_EQ(meter.update(51, 1ms, kStart + 101ms).value(), 50);
}

}  // namespace
}  // namespace gpulse::intel

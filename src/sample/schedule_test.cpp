// SPDX-License-Identifier: Apache-2.0
#include "sample/schedule.hpp"

#include <gtest/gtest.h>

namespace gpulse {
namespace {

using namespace std::chrono_literals;

constexpr ReaderInfo kEvery{.call = "every", .tier = Tier::tick, .fills = {}};
constexpr ReaderInfo kSecond{.call = "second", .tier = Tier::second, .fills = {}};
constexpr ReaderInfo kRate{.call = "rate", .tier = Tier::second, .differential = true, .fills = {}};
constexpr ReaderInfo kSlow{.call = "slow", .tier = Tier::slow, .fills = {}};

const Monotonic kStart = Monotonic() + 1h;

bool due(const ReaderInfo &info, Tier tier, Pass pass, std::chrono::nanoseconds since_last) {
  const ReaderTurn turn{.last = kStart, .read_once = true};
  return turn.due(info, tier, pass, kStart + since_last);
}

TEST(Schedule, PeriodsOfTheTiers) {
  EXPECT_EQ(period(Tier::tick), 0s);
  EXPECT_EQ(period(Tier::second), 1s);
  EXPECT_EQ(period(Tier::slow), 10s);
  EXPECT_EQ(period(Tier::once), std::chrono::nanoseconds::max());
}

TEST(Schedule, ATickReaderIsDueEveryTime) { EXPECT_TRUE(due(kEvery, Tier::tick, Pass::scheduled, 0ns)); }

// Timers may be up to 5 % early.
TEST(Schedule, ASecondReaderIsDueOnceASecond) {
  EXPECT_FALSE(due(kSecond, Tier::second, Pass::scheduled, 100ms));
  EXPECT_FALSE(due(kSecond, Tier::second, Pass::scheduled, 949ms));
  EXPECT_TRUE(due(kSecond, Tier::second, Pass::scheduled, 950ms));
  EXPECT_TRUE(due(kSecond, Tier::second, Pass::scheduled, 5s));
}

TEST(Schedule, ASlowReaderIsDueEveryTenSeconds) {
  EXPECT_FALSE(due(kSlow, Tier::slow, Pass::scheduled, 9499ms));
  EXPECT_TRUE(due(kSlow, Tier::slow, Pass::scheduled, 9500ms));
}

TEST(Schedule, AOnceReaderIsDueOnlyTheFirstTime) {
  EXPECT_TRUE(ReaderTurn{}.due(kSlow, Tier::once, Pass::scheduled, kStart));
  EXPECT_FALSE(due(kSlow, Tier::once, Pass::scheduled, 1000h));
}

TEST(Schedule, ATickReaderThatWasSlowedWaits) {
  EXPECT_FALSE(due(kEvery, Tier::second, Pass::scheduled, 500ms));
  EXPECT_TRUE(due(kEvery, Tier::second, Pass::scheduled, 1s));
}

TEST(Schedule, EverythingMeansAllThatIsNotRefused) {
  EXPECT_TRUE(due(kSlow, Tier::slow, Pass::everything, 0ns));
  const ReaderTurn refused{.last = kStart, .read_once = true, .refused = true};
  for (const auto pass : {Pass::scheduled, Pass::everything, Pass::rates, Pass::fast}) {
    EXPECT_FALSE(refused.due(kEvery, Tier::tick, pass, kStart + 1h));
  }
}

TEST(Schedule, RatesAreTicksAndDifferentials) {
  EXPECT_TRUE(due(kEvery, Tier::tick, Pass::rates, 0ns));
  EXPECT_TRUE(due(kRate, Tier::second, Pass::rates, 0ns));
  EXPECT_FALSE(due(kSecond, Tier::second, Pass::rates, 1h));
}

TEST(Schedule, FastIsTicksOnly) {
  EXPECT_TRUE(due(kEvery, Tier::tick, Pass::fast, 0ns));
  EXPECT_FALSE(due(kRate, Tier::second, Pass::fast, 1h));
  EXPECT_FALSE(ReaderTurn{}.due(kSlow, Tier::slow, Pass::fast, kStart));
}

TEST(Cost, TheMeanFollowsTheNewestByATenth) {
  ReaderCost cost(kEvery);
  cost.add(100us);
  EXPECT_EQ(cost.mean(), 100us);
  cost.add(200us);
  EXPECT_EQ(cost.mean(), 110us);  // 100 + (200 - 100) / 10
  EXPECT_EQ(cost.calls(), 2U);
}

ReaderCost cost_of(const ReaderInfo &info, std::chrono::nanoseconds each, std::chrono::nanoseconds tick) {
  ReaderCost cost(info);
  for (int i = 0; i < 4; ++i) cost.add(each);
  cost.update_tier(tick, 1);
  return cost;
}

// At most 2 % of the time between two calls: 2 ms of 100 ms, 20 ms of a second.
TEST(Cost, ADearReaderMovesDownAsFarAsItTakes) {
  EXPECT_EQ(cost_of(kEvery, 2ms, 100ms).tier(), Tier::tick);
  EXPECT_EQ(cost_of(kEvery, 2001us, 100ms).tier(), Tier::second);
  EXPECT_EQ(cost_of(kEvery, 20ms, 100ms).tier(), Tier::second);
  EXPECT_EQ(cost_of(kEvery, 20001us, 100ms).tier(), Tier::slow);
  EXPECT_EQ(cost_of(kEvery, 5s, 100ms).tier(), Tier::slow);
  EXPECT_EQ(cost_of(kSecond, 21ms, 1s).tier(), Tier::slow);
  EXPECT_TRUE(cost_of(kSecond, 21ms, 1s).slowed());
}

// At most 10 % for all entities together: 8 × 2.8 ms fit into a second, 128 × 2.8 ms do not.
TEST(Cost, ManyEntitiesMakeACallDear) {
  ReaderCost cost(kEvery);
  for (int i = 0; i < 4; ++i) cost.add(2800us);
  cost.update_tier(1s, 8);
  EXPECT_EQ(cost.tier(), Tier::tick);
  cost.update_tier(1s, 128);
  EXPECT_EQ(cost.tier(), Tier::slow);
}

// 0.01 % of the time is nearly free: 100 µs of a second, 10 µs of 100 ms.
TEST(Cost, WhatNobodyLooksAtIsReadSlowlyUnlessItIsNearlyFree) {
  const auto unseen = [](const ReaderInfo &info, std::chrono::nanoseconds each, std::chrono::nanoseconds tick,
                         std::size_t entities) {
    auto cost = cost_of(info, each, tick);
    cost.focus(false, Tier::slow);
    cost.update_tier(tick, entities);
    return cost;
  };
  EXPECT_EQ(unseen(kSecond, 99us, 1s, 1).tier(), Tier::second);
  EXPECT_EQ(unseen(kSecond, 101us, 1s, 1).tier(), Tier::slow);
  EXPECT_EQ(unseen(kSecond, 101us, 100ms, 1).tier(), Tier::slow) << "it runs once a second all the same";
  EXPECT_EQ(unseen(kSecond, 14us, 1s, 8).tier(), Tier::slow);
  EXPECT_EQ(unseen(kEvery, 11us, 100ms, 1).tier(), Tier::slow);
  EXPECT_EQ(unseen(kEvery, 11us, 1s, 1).tier(), Tier::tick);
  auto cost = unseen(kEvery, 1ms, 1s, 1);
  EXPECT_EQ(cost.tier(), Tier::slow);
  EXPECT_FALSE(cost.slowed()) << "it could be read every time";
  cost.focus(true, Tier::slow);
  cost.update_tier(1s, 1);
  EXPECT_EQ(cost.tier(), Tier::tick);
}

TEST(Cost, ARareTickAffordsMore) {
  EXPECT_EQ(cost_of(kEvery, 100ms, 5s).tier(), Tier::tick);
  EXPECT_EQ(cost_of(kEvery, 101ms, 5s).tier(), Tier::slow);
}

TEST(Cost, TheFirstCallsDoNotCount) {
  ReaderCost cost(kEvery);
  for (int i = 0; i < 3; ++i) cost.add(1s);
  cost.update_tier(100ms, 1);
  EXPECT_FALSE(cost.slowed());
}

TEST(Cost, ASlowReaderStaysWhereItIs) {
  EXPECT_EQ(cost_of(kSlow, 10s, 100ms).tier(), Tier::slow);
  EXPECT_FALSE(cost_of(kSlow, 10s, 100ms).slowed());
}

TEST(Cost, AReaderThatBecomesCheapMovesUpAgain) {
  auto cost = cost_of(kEvery, 10ms, 100ms);
  EXPECT_EQ(cost.tier(), Tier::second);
  // Each call takes a tenth off the 10 ms: below 2 ms after 16 calls.
  for (int i = 0; i < 16; ++i) cost.add(0ns);
  cost.update_tier(100ms, 1);
  EXPECT_EQ(cost.tier(), Tier::tick);
}

TEST(Schedule, TheRestIsWhatWasNotReadYet) {
  ReaderTurn turn;
  EXPECT_TRUE(turn.due(kEvery, Tier::tick, Pass::rest, kStart));
  turn.note(Outcome::ok, true, kStart);
  EXPECT_FALSE(turn.due(kEvery, Tier::tick, Pass::rest, kStart + 1h));
  ReaderTurn refused;
  refused.refused = true;
  EXPECT_FALSE(refused.due(kEvery, Tier::tick, Pass::rest, kStart));
}

// What is not in focus is due every ten seconds.
TEST(Schedule, AFullReadingIsDueNowAndThen) {
  ReaderTurn turn;
  EXPECT_TRUE(turn.is_full_due(Tier::slow, kStart));
  turn.note(Outcome::ok, true, kStart);
  EXPECT_FALSE(turn.is_full_due(Tier::slow, kStart + 1s));
  turn.note(Outcome::ok, false, kStart + 1s);
  EXPECT_FALSE(turn.is_full_due(Tier::slow, kStart + 9s));
  EXPECT_TRUE(turn.is_full_due(Tier::slow, kStart + 10s));
}

TEST(Schedule, AFirstSampleIsNoFullReading) {
  ReaderTurn turn;
  turn.note(Outcome::not_yet, true, kStart);
  EXPECT_TRUE(turn.is_full_due(Tier::slow, kStart + 1s));
  turn.note(Outcome::ok, true, kStart + 1s);
  EXPECT_FALSE(turn.is_full_due(Tier::slow, kStart + 2s));
}

}  // namespace
}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
#include "serve/demand.hpp"

#include <gtest/gtest.h>

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;

constexpr Limits kLimits{.interval = 1s, .fastest = 100ms};

Demand::Reader reader(std::chrono::nanoseconds interval, std::optional<MetricSet> metrics = {}) {
  Demand::Reader one;
  one.who.interval = interval;
  one.metrics = metrics;
  return one;
}

TEST(Demand, TheFastestReaderSetsThePaceWhileItLives) {
  Demand demand;
  EXPECT_EQ(demand.interval(kLimits), 1s);
  demand.set(1, reader(500ms));
  demand.set(2, reader(200ms));
  EXPECT_EQ(demand.interval(kLimits), 200ms);
  demand.drop(2);
  EXPECT_EQ(demand.interval(kLimits), 500ms);
  demand.drop(1);
  EXPECT_EQ(demand.interval(kLimits), 1s);
}

TEST(Demand, NobodyMakesItSlowerOrFasterThanTheLimits) {
  Demand demand;
  demand.set(1, reader(10s));
  EXPECT_EQ(demand.interval(kLimits), 1s);
  demand.set(2, reader(1ms));
  EXPECT_EQ(demand.interval(kLimits), 100ms);
}

TEST(Demand, OnlyThoseInAHurrySayWhatTheHurryIsFor) {
  const auto power = device_metric("power_draw_watts");
  const auto memory = device_metric("memory_used_bytes");
  Demand demand;
  EXPECT_EQ(demand.focus(kLimits), std::nullopt);
  demand.set(1, reader(100ms, MetricSet{power}));
  EXPECT_EQ(demand.focus(kLimits), MetricSet{power});
  demand.set(2, reader(200ms, MetricSet{memory}));
  EXPECT_EQ(demand.focus(kLimits), (MetricSet{power, memory}));
  // At the usual pace everything is read anyway.
  demand.set(3, reader(1s));
  EXPECT_EQ(demand.focus(kLimits), (MetricSet{power, memory}));
  // One that wants all of it fast gets it.
  demand.set(4, reader(500ms));
  EXPECT_EQ(demand.focus(kLimits), std::nullopt);
}

TEST(Demand, AReaderIsKnownBySinceWhenItAsks) {
  Demand demand;
  auto one = reader(200ms);
  one.who.pid = 4242;
  one.since = Monotonic(10s);
  demand.set(7, one);
  const auto readers = demand.readers(Monotonic(25s));
  ASSERT_EQ(readers.size(), 1U);
  EXPECT_EQ(readers[0].pid, 4242U);
  EXPECT_EQ(readers[0].since, 15s);
}

}  // namespace
}  // namespace gpulse::serve

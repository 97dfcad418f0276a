// SPDX-License-Identifier: Apache-2.0
#include "insight/series.hpp"

#include <gtest/gtest.h>

namespace gpulse::insight {
namespace {

Series series_of(std::initializer_list<double> values, double step = 1) {
  Series series;
  double time = 0;
  for (const auto value : values) {
    series.add(time, value);
    time += step;
  }
  return series;
}

TEST(Series, WithoutValuesNothingIsKnown) {
  const Series none;
  EXPECT_FALSE(none.mean());
  EXPECT_FALSE(none.steady_mean());
  EXPECT_FALSE(none.quantile(0.5));
  EXPECT_FALSE(none.share_from(0));
  EXPECT_FALSE(none.first());
  EXPECT_FALSE(none.last());
  EXPECT_FALSE(trend(none));
  EXPECT_EQ(find_stalls(none, 1, 2).count, 0U);
}

TEST(Series, MeansAndQuantiles) {
  const auto series = series_of({4, 1, 3, 2, 10});
  EXPECT_EQ(series.mean(), 4);
  EXPECT_EQ(series.quantile(0), 1);
  EXPECT_EQ(series.quantile(0.5), 3);
  EXPECT_EQ(series.quantile(1), 10);
  EXPECT_EQ(series.share_from(3), 0.6);
}

TEST(Series, ABurstIsNotSteady) {
  EXPECT_EQ(series_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 100}).steady_mean(), 0);
  EXPECT_EQ(series_of({7}).steady_mean(), 7);
}

TEST(Series, ALineAndItsFit) {
  const auto line = trend(series_of({1, 3, 5, 7}, 2));
  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->per_second, 1);
  EXPECT_DOUBLE_EQ(line->fit, 1);
  // Up and down again: no line at all.
  EXPECT_DOUBLE_EQ(trend(series_of({0, 1, 0}))->fit, 0);
  EXPECT_DOUBLE_EQ(trend(series_of({5, 5, 5}))->fit, 0);
  EXPECT_FALSE(trend(series_of({1, 2})));
  EXPECT_FALSE(trend(series_of({1, 2, 3}, 0)));
}

TEST(Stalls, BetweenWork) {
  // Work for 3 s, a stall of 2 s, work, a stall, work: all runs end halfway between two values.
  const auto stalls = find_stalls(series_of({90, 90, 90, 0, 0, 90, 90, 90, 0, 0, 90}), 20, 50);
  EXPECT_EQ(stalls.count, 2U);
  EXPECT_DOUBLE_EQ(stalls.seconds, 2);
  EXPECT_DOUBLE_EQ(stalls.busy_seconds, 2.5);
  EXPECT_DOUBLE_EQ(stalls.share, 0.4);
}

TEST(Stalls, AtTheEndsTheyAreNotCountedButCost) {
  const auto stalls = find_stalls(series_of({0, 0, 0, 90, 90, 90, 0, 0}), 20, 50);
  EXPECT_EQ(stalls.count, 0U);
  EXPECT_DOUBLE_EQ(stalls.share, 4.0 / 7);
}

TEST(Stalls, TellsHowLongItWorkedBeforeTheFirst) {
  const auto stalls = find_stalls(series_of({0, 0, 90, 90, 90, 0, 0, 90, 0, 0}), 20, 50);
  EXPECT_EQ(stalls.count, 1U);
  EXPECT_EQ(stalls.first_work, 3);
  EXPECT_TRUE(stalls.at_begin);
  EXPECT_TRUE(stalls.at_end);
}

TEST(Stalls, OneLowValueIsNone) { EXPECT_EQ(find_stalls(series_of({90, 90, 0, 90, 90}), 20, 50).count, 0U); }

TEST(Stalls, WhatLiesBetweenGoesOnAsBefore) {
  EXPECT_EQ(find_stalls(series_of({90, 30, 90, 0, 30, 30, 90}), 20, 50).count, 1U);
}

}  // namespace
}  // namespace gpulse::insight

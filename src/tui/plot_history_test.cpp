// SPDX-License-Identifier: Apache-2.0
#include "tui/plot_history.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tui/chart.hpp"
#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using ::testing::ElementsAre;
using testing::later;
using testing::make_snapshot;
using testing::MemoryTimeline;

constexpr auto kTemperature = device_metric("temperature_gpu_celsius");

Snapshot at(int number) {
  auto snapshot = later(make_snapshot(1), number);
  snapshot.devices[0].row[kTemperature] = number;
  return snapshot;
}

class PlotHistoryTest : public ::testing::Test {
 protected:
  void show(std::uint64_t number) {
    while (timeline.end() <= number) timeline.add(at(static_cast<int>(timeline.end())));
    history.show(timeline, number, **timeline.at(number));
  }
  MemoryTimeline timeline;
  PlotHistory history;
  PlotKey key{{0}, 0, kTemperature.index};
};

TEST_F(PlotHistoryTest, GrowsByOneWithEverySampleAndForgetsTheOldest) {
  history.want({key}, 3);
  show(0);
  EXPECT_THAT(history.values(key), ElementsAre(0));
  for (std::uint64_t i = 1; i < 500; ++i) show(i);
  EXPECT_THAT(history.values(key), ElementsAre(497, 498, 499));
}

TEST_F(PlotHistoryTest, AfterAJumpItIsWhatItWouldHaveBeen) {
  history.want({key}, 4);
  for (std::uint64_t i = 0; i < 100; ++i) show(i);
  show(50);
  EXPECT_THAT(history.values(key), ElementsAre(47, 48, 49, 50));
  show(51);
  EXPECT_THAT(history.values(key), ElementsAre(48, 49, 50, 51));
  show(1);
  EXPECT_THAT(history.values(key), ElementsAre(0, 1));
}

TEST_F(PlotHistoryTest, IsTheSameByWhicheverWayOneCame) {
  history.want({key}, 5);
  for (std::uint64_t i = 0; i < 60; ++i) show(i);
  for (const std::uint64_t number : {59U, 58U, 40U, 38U, 39U, 43U, 58U, 50U, 2U, 1U, 6U, 59U, 55U, 57U}) {
    show(number);
    PlotHistory fresh;
    fresh.want({key}, 5);
    fresh.show(timeline, number, **timeline.at(number));
    EXPECT_THAT(history.values(key), ::testing::ElementsAreArray(fresh.values(key))) << number;
    EXPECT_EQ(history.values(key).back(), static_cast<float>(number));
  }
}

TEST_F(PlotHistoryTest, SomethingNewIsThereWithItsPast) {
  history.want({key}, 4);
  for (std::uint64_t i = 0; i < 10; ++i) show(i);
  const PlotKey power{{0}, 0, device_metric("power_draw_watts").index};
  history.want({key, power}, 4);
  show(9);
  EXPECT_THAT(history.values(key), ElementsAre(6, 7, 8, 9));
  EXPECT_EQ(history.values(power).size(), 4U);
}

TEST_F(PlotHistoryTest, ADeviceThatWasNotThereLeavesAGap) {
  const PlotKey other{{7}, 0, kTemperature.index};
  history.want({other}, 2);
  show(0);
  ASSERT_EQ(history.values(other).size(), 1U);
  EXPECT_TRUE(std::isnan(history.values(other)[0]));
  EXPECT_TRUE(history.values({{1}, 2, 3}).empty());
}

TEST(Chart, ScalesAreNumbersThatPeopleLike) {
  EXPECT_EQ(nice_scale(0, Unit::watts), 1);
  EXPECT_EQ(nice_scale(7, Unit::watts), 10);
  EXPECT_EQ(nice_scale(150, Unit::percent), 200);
  EXPECT_EQ(nice_scale(430, Unit::mhz), 500);
  EXPECT_EQ(nice_scale(1000, Unit::mhz), 1000);
  EXPECT_EQ(nice_scale(3.0 * 1024 * 1024, Unit::bytes), 5.0 * 1024 * 1024);
  EXPECT_EQ(nice_scale(INFINITY, Unit::bytes), 1);
}

}  // namespace
}  // namespace gpulse::tui

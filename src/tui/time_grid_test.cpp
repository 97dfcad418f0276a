// SPDX-License-Identifier: Apache-2.0
#include "tui/time_grid.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace gpulse::tui {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsNan;

constexpr WallTime kNoon{std::chrono::seconds(1794744000)};  // 2026-11-15 12:00:00 UTC

std::vector<WallTime> at_seconds(const std::vector<double> &seconds) {
  std::vector<WallTime> times;
  for (const double each : seconds) times.push_back(kNoon + std::chrono::milliseconds(std::llround(each * 1000)));
  return times;
}

std::vector<float> dots(const TimeGrid &grid, const std::vector<float> &values) {
  std::vector<float> room;
  const auto found = grid.dots(values, room);
  return {found.begin(), found.end()};
}

TEST(TimeGrid, ADotStandsForTheUsualTimeBetweenSamples) {
  const TimeGrid grid(at_seconds({0, 2.1, 3.9, 6, 8.05}), 4, 1);
  EXPECT_GT(grid.dot(), 1800ms);
  EXPECT_LT(grid.dot(), 2150ms);
  EXPECT_THAT(dots(grid, {1, 2, 3, 4, 5}), ElementsAre(1, 2, 3, 4, 5)) << "a sample that is a bit late is no gap";
  EXPECT_EQ(TimeGrid({}, 0, 4).dot(), 4s) << "nothing is known yet";
}

TEST(TimeGrid, ATimeWithoutSamplesIsAsWideAsItWasLong) {
  // Nothing between the seconds 2 and 6, as when the machine slept.
  const TimeGrid grid(at_seconds({0, 1, 2, 6, 7, 8}), 5, 1);
  EXPECT_THAT(dots(grid, {10, 11, 12, 16, 17, 18}), ElementsAre(10, 11, 12, IsNan(), IsNan(), IsNan(), 16, 17, 18));
}

TEST(TimeGrid, OlderSamplesAtALongerIntervalAreStretchedNotTornApart) {
  // What history has kept by three seconds, then live samples.
  const TimeGrid grid(at_seconds({0, 3, 6, 7, 8, 9, 10}), 6, 1);
  EXPECT_THAT(dots(grid, {0, 3, 6, 7, 8, 9, 10}), ElementsAre(0, 3, 3, 3, 6, 6, 6, 7, 8, 9, 10));
}

TEST(TimeGrid, ZoomFoldsSamplesToTheirMeanAndGroupsStayTogetherAsTimeGoesOn) {
  const TimeGrid first(at_seconds({0, 1, 2, 3, 4}), 4, 2);
  EXPECT_EQ(first.dot(), 2s);
  EXPECT_THAT(dots(first, {0, 10, 20, 30, 40}), ElementsAre(5, 25, 40));
  const TimeGrid next(at_seconds({1, 2, 3, 4, 5}), 5, 2);
  EXPECT_THAT(dots(next, {10, 20, 30, 40, 50}), ElementsAre(10, 25, 45)) << "20 and 30 are still one dot";
  EXPECT_THAT(dots(first, {0, 10, NAN, NAN, 40}), ElementsAre(5, IsNan(), 40));
}

TEST(TimeGrid, AClockThatWasSetBackDoesNoHarm) {
  const TimeGrid grid(at_seconds({100, 101, 102, 3, 4, 5}), 5, 1);
  EXPECT_THAT(dots(grid, {1, 2, 3, 4, 5, 6}), ElementsAre(1, 2, 3, 4, 5, 6));
}

std::string labels(const std::vector<TimeTick> &ticks) {
  std::string text;
  for (const auto &[age, label] : ticks) text += label + '@' + std::to_string(age) + ' ';
  return text;
}

TEST(TimeTicks, CountFromNowInRoundSteps) {
  const TimeGrid grid(at_seconds({0, 1, 2}), 2, 1);
  // 60 columns of two dots, 12 columns for a label: no less than 24 s apart.
  EXPECT_EQ(labels(time_ticks(grid, 120, 2, false)), "-30s@30 -1m@60 -1m30s@90 ");
  EXPECT_EQ(labels(time_ticks(grid, 60, 1, false)), "-15s@15 -30s@30 -45s@45 ");
  const TimeGrid wide(at_seconds({0, 1, 2}), 2, 64);
  // 64 s a dot: 24 dots are 25.6 minutes.
  EXPECT_EQ(labels(time_ticks(wide, 120, 2, false)), "-30m@28 -1h@56 -1h30m@84 -2h@113 ");
}

TEST(TimeTicks, LieOnRoundTimesOfDayWhenLookingBack) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const TimeGrid grid(at_seconds({18, 19, 20}), 2, 1);
  // 12:00:20 is at the right; 16 columns of two dots are 32 s.
  EXPECT_EQ(labels(time_ticks(grid, 150, 2, true)), "12:00@20 11:59@80 11:58@140 ");
  EXPECT_EQ(labels(time_ticks(grid, 60, 1, true)), "12:00:00@20 11:59:30@50 ");
}

TEST(SpanText, IsAsShortAsPeopleSayIt) {
  EXPECT_EQ(span_text(500ms), "0.5s");
  EXPECT_EQ(span_text(251ms), "0.25s");
  EXPECT_EQ(span_text(1s), "1s");
  EXPECT_EQ(span_text(1002ms), "1s");
  EXPECT_EQ(span_text(90s), "1m30s");
  EXPECT_EQ(span_text(2h), "2h");
  EXPECT_EQ(span_text(25h), "1d1h");
}

}  // namespace
}  // namespace gpulse::tui

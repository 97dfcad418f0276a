// SPDX-License-Identifier: Apache-2.0
#include "fleet/host_past.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;

EngineSeries series(std::vector<Label> labels, std::vector<EnginePoint> points) {
  return {.labels = std::move(labels), .points = std::move(points)};
}

WallTime at(std::int64_t seconds) { return WallTime(std::chrono::seconds(seconds)); }

TEST(HostErrors, AreTheMomentsThatTheSeriesTells) {
  const std::vector<EngineSeries> answer{
      series({{"uuid", "GPU-a"}, {"xid", "79"}}, {{100, 95}, {110, 95}, {120, 118.5}}),
      series({{"uuid", "GPU-b"}, {"xid", "13"}}, {{100, 12}, {110, 101}}),
      series({{"uuid", "GPU-b"}, {"xid", "many"}}, {{100, 99}})};
  const auto events = error_events(answer, at(90), at(120));
  ASSERT_EQ(events.size(), 3U) << "the one at 12 was before";
  EXPECT_EQ(events[0].time, at(95));
  EXPECT_EQ(events[0].device, "GPU-a");
  EXPECT_EQ(events[0].code, 79);
  EXPECT_EQ(events[0].kind, EventKind::xid);
  EXPECT_EQ(events[1].code, 13);
  EXPECT_EQ(events[2].time, at(118) + 500ms);
}

TEST(HostFindings, LastFromTheirFirstStepToTheFirstWithoutThem) {
  const std::vector<EngineSeries> answer{
      series({{"uuid", "GPU-a"}, {"finding", "input-cpu"}}, {{110, 1}, {120, 1}, {150, 1}}),
      series({{"finding", "host-memory"}}, {{100, 1}, {110, 1}, {120, 1}, {130, 1}, {140, 1}, {150, 1}})};
  const auto stretches = finding_stretches(answer, at(100), at(150), 10s);
  ASSERT_EQ(stretches.size(), 3U);
  EXPECT_EQ(stretches[0].id, "host-memory");
  EXPECT_TRUE(stretches[0].uuid.empty());
  EXPECT_FALSE(stretches[0].begin) << "it was there before";
  EXPECT_FALSE(stretches[0].end) << "it still is";
  EXPECT_EQ(stretches[1].begin, at(110));
  EXPECT_EQ(stretches[1].end, at(130));
  EXPECT_EQ(stretches[2].begin, at(150));
  EXPECT_FALSE(stretches[2].end);
}

TEST(HostFindings, AtNoMomentThatAClockShowsAreNone) {
  const std::vector<EngineSeries> answer{series({{"uuid", "GPU-a"}, {"finding", "input-cpu"}},
                                                {{1e300, 1}, {-1e300, 1}, {NAN, 1}, {110, 1}, {INFINITY, 1}})};
  const auto stretches = finding_stretches(answer, at(100), at(150), 10s);
  ASSERT_EQ(stretches.size(), 1U);
  EXPECT_EQ(stretches[0].begin, at(110));
  EXPECT_EQ(stretches[0].end, at(120));
}

// A span may begin at any nanosecond, and the engine is asked in milliseconds.
TEST(HostFindings, ThoseOfTheFirstStepBeganBeforeItWhateverTheSecond) {
  const auto found = [](double first, int count) {
    EngineSeries one{.labels = {{"finding", "input-cpu"}}};
    for (int i = 0; i < count; ++i) one.points.push_back({first + 60.0 * i, 1});
    return std::vector{one};
  };
  for (const std::chrono::nanoseconds fraction : {0ns, 1ns, 400'000ns, 499'999'999ns, 500'000'000ns, 999'000'000ns}) {
    const auto first = at(1'700'000'000) + fraction, last = first + 1h;
    const double asked = std::floor(Seconds(first.time_since_epoch()).count() * 1e3) / 1e3;
    const auto whole = finding_stretches(found(asked, 61), first, last, 60s);
    ASSERT_EQ(whole.size(), 1U);
    EXPECT_FALSE(whole[0].begin) << fraction.count();
    EXPECT_FALSE(whole[0].end);
    const auto later = finding_stretches(found(asked + 60, 5), first, last, 60s);
    ASSERT_EQ(later.size(), 1U);
    ASSERT_TRUE(later[0].begin) << "it was not there at the first step: " << fraction.count();
    EXPECT_NEAR(Seconds(*later[0].begin - first).count(), 60, 0.6);
    EXPECT_TRUE(later[0].end);
  }
}

}  // namespace
}  // namespace gpulse::fleet

// SPDX-License-Identifier: Apache-2.0
#include "tui/playback.hpp"

#include <gmock/gmock.h>

#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using ::testing::ElementsAre;
using testing::later;
using testing::make_snapshot;
using testing::MemoryTimeline;

class PlaybackTest : public ::testing::Test {
 protected:
  void grow(int seconds) { timeline.add(later(make_snapshot(0), seconds)); }
  Playback play(const PlaybackOptions &options) {
    return {timeline, options, [this](std::uint64_t number) {
              if (number == broken) return false;
              shown.push_back(number);
              return true;
            }};
  }

  MemoryTimeline timeline;
  std::vector<std::uint64_t> shown;
  std::uint64_t broken = 1000;
  Monotonic now{std::chrono::seconds(50)};
};

TEST_F(PlaybackTest, FollowsTheNewestSampleUntilItIsPaused) {
  auto playback = play({});
  for (int i = 0; i < 3; ++i) {
    grow(i);
    playback.sample_came();
  }
  playback.toggle_pause(now);
  grow(3);
  playback.sample_came();
  EXPECT_THAT(shown, ElementsAre(0, 1, 2));
  EXPECT_TRUE(playback.in_the_past());
  playback.toggle_pause(now);
  EXPECT_THAT(shown, ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(playback.in_the_past());
  EXPECT_FALSE(playback.due()) << "a live view waits for samples, not for the clock";
}

TEST_F(PlaybackTest, PlaysAtThePaceOfTheRecordingAndSkipsLongGaps) {
  for (const int second : {0, 2, 3602}) grow(second);
  auto playback = play({.replay = true});
  playback.tick(now);
  EXPECT_EQ(playback.due(), now + std::chrono::seconds(2));
  playback.tick(now + std::chrono::seconds(2));
  EXPECT_EQ(playback.due(), now + std::chrono::seconds(3)) << "an hour without samples takes a second";
  playback.tick(now + std::chrono::seconds(3));
  EXPECT_THAT(shown, ElementsAre(0, 1, 2));
  playback.tick(now + std::chrono::seconds(4));
  EXPECT_FALSE(playback.playing());
}

TEST_F(PlaybackTest, ShowsEverySampleWhenItIsLate) {
  for (int i = 0; i < 5; ++i) grow(i);
  auto playback = play({.replay = true, .start = 1});
  playback.tick(now);
  playback.tick(now + std::chrono::minutes(1));
  EXPECT_THAT(shown, ElementsAre(1, 2, 3, 4));
}

TEST_F(PlaybackTest, StaysWhereItIsWhenASampleCannotBeRead) {
  for (int i = 0; i < 3; ++i) grow(i);
  broken = 1;
  auto playback = play({});
  playback.sample_came();
  playback.step(-1);
  EXPECT_EQ(playback.number(), 2U);
  playback.step(-2);
  EXPECT_EQ(playback.number(), 0U);
}

TEST_F(PlaybackTest, GoesToTimesAsPeopleWriteThem) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  for (int i = 0; i < 100; ++i) grow(i);
  auto playback = play({});
  playback.sample_came();
  const auto goes_to = [&](std::string_view text) { return playback.go_to(text) ? playback.number() : 1000; };
  EXPECT_EQ(goes_to("start"), 0U);
  EXPECT_EQ(goes_to("1m5s"), 65U);
  EXPECT_EQ(goes_to("-5"), 60U);
  EXPECT_EQ(goes_to(" +0.1m "), 66U);
  EXPECT_EQ(goes_to(local_time(timeline.time(30), "%H:%M:%S")), 29U) << "sample 30 comes 0.73 s later";
  EXPECT_FALSE(playback.playing());
  EXPECT_EQ(goes_to("now"), 99U);
  EXPECT_TRUE(playback.playing());
  for (const auto *wrong : {"noon", "5x", "1:2:3:4", "12:99"}) EXPECT_FALSE(playback.go_to(wrong)) << wrong;
}

}  // namespace
}  // namespace gpulse::tui

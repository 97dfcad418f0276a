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

// The first fifty samples are there only after it has reached back for them.
class HidingTimeline final : public feed::Timeline {
 public:
  explicit HidingTimeline(int seconds) {
    for (int i = 0; i < seconds; ++i) all_.add(later(make_snapshot(0), i));
  }
  std::uint64_t first() const override { return first_; }
  std::uint64_t end() const override { return all_.end(); }
  WallTime time(std::uint64_t number) const override { return all_.time(number); }
  Result<SnapshotPtr> at(std::uint64_t number) override { return all_.at(number); }
  std::uint64_t find(WallTime time) override { return std::max(first_, all_.find(time)); }
  bool can_reach_back() const override { return first_ > 0; }
  Result<void> reach_back() override {
    first_ = 0;
    return {};
  }

 private:
  MemoryTimeline all_;
  std::uint64_t first_ = 50;
};

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

TEST_F(PlaybackTest, ReachesBackWhenSomebodyWantsToLookThere) {
  using namespace std::chrono_literals;
  const std::vector<std::pair<std::uint64_t, std::function<void(Playback &)>>> wishes{
      {48, [](Playback &playback) { playback.step(-51); }},
      {39, [](Playback &playback) { playback.jump(-60s); }},
      {0, [](Playback &playback) { playback.go_to("start"); }},
      {19, [](Playback &playback) { playback.go_to("-80s"); }},
      {7, [](Playback &playback) { playback.go_to("7s"); }},
  };
  for (const auto &[number, wish] : wishes) {
    HidingTimeline hiding(100);
    Playback playback(hiding, {}, [](std::uint64_t) { return true; });
    playback.sample_came();
    playback.step(-49);
    ASSERT_EQ(playback.number(), 50U);
    ASSERT_FALSE(playback.is_reaching_back()) << "there is no need yet";
    playback.go_to_end();
    wish(playback);
    EXPECT_TRUE(playback.is_reaching_back());
    EXPECT_EQ(playback.number(), 99U) << "nothing is shown before it is there";
    EXPECT_TRUE(playback.reach_back());
    EXPECT_FALSE(playback.is_reaching_back());
    EXPECT_EQ(playback.number(), number);
    EXPECT_FALSE(playback.playing());
  }
}

TEST_F(PlaybackTest, BeginsPausedWhereItIsTold) {
  for (int i = 0; i < 5; ++i) grow(i);
  auto playback = play({.replay = true, .start = 4, .paused = true});
  playback.tick(now);
  playback.tick(now + std::chrono::minutes(1));
  EXPECT_THAT(shown, ElementsAre(4));
  playback.toggle_pause(now);
  EXPECT_THAT(shown, ElementsAre(4, 0)) << "at the end there is nothing left to play";
  EXPECT_EQ(playback.due(), now + std::chrono::seconds(1));
}

TEST_F(PlaybackTest, StepsOfAMinuteArePlayedAndJumpedOver) {
  for (const int second : {0, 60, 120, 4000, 4001}) grow(second);
  auto playback = play({.replay = true, .start = 0, .paused = true});
  playback.tick(now);
  for (int i = 0; i < 3; ++i) playback.jump(std::chrono::minutes(1));
  EXPECT_THAT(shown, ElementsAre(0, 1, 2, 3)) << "also where nothing was for more than an hour";
  playback.jump(-std::chrono::minutes(1));
  playback.jump(-std::chrono::minutes(1));
  EXPECT_EQ(playback.number(), 1U);
  playback.toggle_pause(now);
  EXPECT_EQ(playback.due(), now + std::chrono::seconds(1)) << "a minute is too long to wait for";
}

TEST_F(PlaybackTest, ATimeThatIsYetToComeIsYesterdays) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  constexpr int kHour = 3600;
  for (int i = 0; i < 30; ++i) grow(i * kHour);
  auto playback = play({});
  playback.sample_came();
  const auto yesterday = timeline.time(10);  // five hours later on the clock than the newest
  ASSERT_TRUE(playback.go_to(local_time(yesterday, "%H:%M:%S")));
  EXPECT_EQ(playback.number(), 9U) << "sample 10 comes 0.73 s later";
  for (const auto *form : {"yesterday %H:%M:%S", "%Y-%m-%d %H:%M:%S"}) {
    playback.go_to_end();
    ASSERT_TRUE(playback.go_to(local_time(yesterday, form))) << form;
    EXPECT_EQ(playback.number(), 9U) << form;
  }
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

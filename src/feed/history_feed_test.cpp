// SPDX-License-Identifier: Apache-2.0
#include "feed/history_feed.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "history/testing.hpp"

namespace gpulse::feed {
namespace {

using namespace std::chrono_literals;
using history::testing::at;

constexpr auto kUse = device_metric("gpu_utilization_percent");

SnapshotPtr sample(int second) {
  auto now = std::make_shared<Snapshot>();
  now->time = at(second);
  auto device = history::testing::make_device(0);
  device.row[kUse] = second % 60;
  now->devices.push_back(device);
  return now;
}

// Five minutes of history, a sample a second.
class HistoryFeedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto store = history::testing::open_store(path_);
    std::vector<history::TimedSample> all;
    for (int second = 0; second < 300; ++second) all.push_back({sample(second), 1});
    history::testing::append(*store, all);
  }
  JoinedTimeline::OpenPast past() {
    return [this](WallTime before) {
      ++opened_;
      auto past = open_past(path_, {WallTime{}, before});
      return past ? std::move(*past) : nullptr;
    };
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("/history.db");
  int opened_ = 0;
};

TEST_F(HistoryFeedTest, APastThatCannotBeReadNowMayBeReadLater) {
  LiveTimeline live;
  live.add(sample(300));
  bool is_away = true;
  JoinedTimeline joined(live, [&](WallTime before) -> Result<std::unique_ptr<Timeline>> {
    return is_away ? failure("nobody answers") : past()(before);
  });
  EXPECT_EQ(joined.reach_back().error().what, Text("nobody answers"));
  EXPECT_TRUE(joined.can_reach_back());
  EXPECT_EQ(joined.end() - joined.first(), 1U);
  is_away = false;
  ASSERT_TRUE(joined.reach_back());
  EXPECT_EQ(joined.end() - joined.first(), 301U);
}

TEST(LiveTimeline, KnowsWhatWasToldOfEachSample) {
  LiveTimeline live;
  live.add(sample(0));
  EXPECT_FALSE(live.told(0)) << "nobody did";
  ToldFindings hung{.is_known = true, .all = {{.id = insight::FindingId::hung}}};
  live.add(sample(1), hung);
  live.add(sample(2), hung);
  live.add(sample(3), ToldFindings{.is_known = true});
  EXPECT_FALSE(live.told(0));
  EXPECT_EQ(live.told(1), hung);
  EXPECT_EQ(live.told(2), hung);
  ASSERT_TRUE(live.told(3));
  EXPECT_TRUE(live.told(3)->all.empty());
}

TEST_F(HistoryFeedTest, IsARecordingToThoseWhoPlayIt) {
  auto feed = open_history(path_, {at(100), at(1000)}, {.speed = 1e6});
  ASSERT_TRUE(feed.has_value()) << feed.error().line();
  EXPECT_FALSE((*feed)->is_live());
  EXPECT_EQ((*(*feed)->once())->time, at(299));
  int second = 100;
  while (const auto next = (*feed)->next().value_or(nullptr)) EXPECT_EQ(next->time, at(second++));
  EXPECT_EQ(second, 300);

  feed = open_history(path_, {at(100), at(1000)}, {.speed = 1e6, .at = 50s});
  ASSERT_TRUE(feed.has_value());
  EXPECT_EQ((*(*feed)->once())->time, at(150));
  EXPECT_EQ((*(*feed)->next())->time, at(150));
  EXPECT_EQ((*(*feed)->recording()->at(7))->devices.at(0).row[kUse], Reading(47));
}

TEST_F(HistoryFeedTest, SaysWhatCannotBePlayed) {
  const auto nothing = open_history(path_, {at(1000), at(2000)}, {});
  ASSERT_FALSE(nothing.has_value());
  EXPECT_EQ(nothing.error().what, Text(path_ + " has nothing of that time"));
  EXPECT_FALSE(open_history(folder_.path("/none.db"), {at(0), at(1)}, {}).has_value());
}

TEST_F(HistoryFeedTest, ComesBeforeWhatIsSeenLive) {
  LiveTimeline live;
  // The agent's last samples are in both.
  for (int second = 297; second < 310; ++second) live.add(sample(second));
  JoinedTimeline joined(live, past());
  const auto newest = joined.end() - 1;
  EXPECT_EQ(joined.time(joined.first()), at(297));
  EXPECT_TRUE(joined.can_reach_back());
  EXPECT_EQ(opened_, 0) << "nobody has gone back so far";

  EXPECT_TRUE(joined.reach_back());
  live.add(sample(310));
  EXPECT_FALSE(joined.can_reach_back());
  EXPECT_EQ(joined.time(newest), at(309)) << "a number stays that of its sample";
  ASSERT_EQ(joined.end() - joined.first(), 311U);
  for (int second = 310; second >= 0; --second) {
    const auto number = joined.first() + static_cast<std::uint64_t>(second);
    ASSERT_EQ(joined.time(number), at(second));
    ASSERT_EQ(joined.find(at(second) + 1ms), number);
    const auto shown = joined.at(number);
    ASSERT_TRUE(shown.has_value());
    ASSERT_EQ((*shown)->time, at(second));
    ASSERT_EQ((*shown)->devices.at(0).row[kUse], Reading(second % 60));
    ASSERT_EQ((*shown)->origin.empty(), second >= 297) << second;
  }
  EXPECT_EQ(joined.find(at(-5)), joined.first());
}

TEST_F(HistoryFeedTest, IsLookedForOnceWhereThereIsNone) {
  LiveTimeline live;
  JoinedTimeline early(live, past());
  EXPECT_FALSE(early.can_reach_back()) << "there is no sample to go back from";
  live.add(sample(-100));
  EXPECT_TRUE(early.reach_back());
  EXPECT_EQ(opened_, 1);
  EXPECT_FALSE(early.can_reach_back());
  EXPECT_EQ(early.end() - early.first(), 1U);
  EXPECT_EQ((*early.at(early.first()))->time, at(-100));

  JoinedTimeline alone(live, {});
  EXPECT_FALSE(alone.can_reach_back());
}

}  // namespace
}  // namespace gpulse::feed

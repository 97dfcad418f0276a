// SPDX-License-Identifier: Apache-2.0
#include "feed/feed.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "feed/live_feed.hpp"
#include "feed/timeline.hpp"
#include "sample/fake_source.hpp"

namespace gpulse::feed {
namespace {

using namespace std::chrono_literals;
using Fake = FakeSource;

constexpr RunnerOptions kDeadlines{
    .call_deadline = 150ms, .discover_deadline = 300ms, .retry = 1ms, .check = 0ms, .tick = 100ms};

class LiveFeedTest : public testing::Test {
 protected:
  void TearDown() override {
    feed_.reset();
    source_->release();
    EXPECT_EQ(source_->broken_rules(), 0U);
  }

  void open(std::vector<Fake::FakeDevice> devices, const Options &options) {
    source_->devices(std::move(devices));
    feed_ = make_live({source_}, Sysroot(), options, kDeadlines);
  }

  // How long run() goes on after a stop was asked for.
  std::chrono::nanoseconds time_to_stop() {
    std::jthread running([&](const std::stop_token &stop) { EXPECT_TRUE(feed_->run(stop)); });
    std::this_thread::sleep_for(30ms);
    const auto begun = monotonic_now();
    running.request_stop();
    running.join();
    return monotonic_now() - begun;
  }

  std::shared_ptr<Fake> source_ = std::make_shared<Fake>();
  std::unique_ptr<Feed> feed_;
};

TEST_F(LiveFeedTest, EverySubscriberGetsEverySample) {
  open({{"GPU-0"}}, {.interval = 5ms, .rates = Rates::never});
  std::stop_source stop;
  std::vector<SnapshotPtr> one, other;
  const auto first = feed_->subscribe([&](const SnapshotPtr &sample) { one.push_back(sample); });
  const auto second = feed_->subscribe([&](const SnapshotPtr &sample) {
    other.push_back(sample);
    if (other.size() == 5) stop.request_stop();
  });
  EXPECT_TRUE(feed_->run(stop.get_token()));
  EXPECT_EQ(one.size(), 5U);
  EXPECT_EQ(one, other);
}

TEST_F(LiveFeedTest, ASubscriptionThatEndedGetsNothingMore) {
  open({{"GPU-0"}}, {.interval = 5ms, .rates = Rates::never});
  std::stop_source stop;
  int kept = 0, ended = 0;
  Subscription ending;
  const auto keeping = feed_->subscribe([&](const SnapshotPtr &) {
    if (++kept == 4) stop.request_stop();
  });
  // A subscriber may end its own subscription.
  ending = feed_->subscribe([&](const SnapshotPtr &) {
    if (++ended == 2) ending = {};
  });
  EXPECT_TRUE(feed_->run(stop.get_token()));
  EXPECT_EQ(kept, 4);
  EXPECT_EQ(ended, 2);
}

TEST_F(LiveFeedTest, SubscribersComeAndGoFromOtherThreads) {
  open({{"GPU-0"}}, {.interval = 1ms, .rates = Rates::never});
  std::jthread running([&](const std::stop_token &stop) { EXPECT_TRUE(feed_->run(stop)); });
  std::atomic<int> seen = 0;
  for (int i = 0; i < 50; ++i) {
    const auto subscription = feed_->subscribe([&](const SnapshotPtr &) { ++seen; });
    for (const int before = seen; seen == before;) std::this_thread::yield();
  }
  running.request_stop();
  running.join();
  EXPECT_GE(seen, 50);
}

TEST_F(LiveFeedTest, OthersGoOnWhileOneGpuHangs) {
  open({{"GPU-0"}, {"GPU-1"}}, {.interval = 10ms, .rates = Rates::never});
  bool hung = false, back = false;
  std::stop_source stop;
  int samples = 0;
  const auto watching = feed_->subscribe([&](const SnapshotPtr &sample) {
    if (++samples == 1000) stop.request_stop();
    if (sample->devices.size() != 2) return;
    if (sample->devices[0].state == DeviceState::not_responding && !hung) {
      EXPECT_EQ(sample->devices[1].row[Fake::kUtilization], Reading(10.0));
      hung = true;
      source_->release();
    }
    back = hung && sample->devices[0].state == DeviceState::ok;
    if (back) stop.request_stop();
  });
  ASSERT_TRUE(feed_->next());
  source_->hang("GPU-0");
  EXPECT_TRUE(feed_->run(stop.get_token()));
  EXPECT_TRUE(hung);
  EXPECT_TRUE(back);
}

// Waking a thread for each sample costs more than the calls to the driver.
TEST_F(LiveFeedTest, WhoHandsOnTheSamplesCallsTheDriver) {
  open({{"GPU-0"}}, {.interval = 10ms, .rates = Rates::never});
  ASSERT_TRUE(feed_->next());
  int samples = 0;
  EXPECT_TRUE(feed_->follow({}, [&](const SnapshotPtr &) {
    EXPECT_EQ(source_->reader_thread(), std::this_thread::get_id());
    return ++samples < 5;
  }));
  EXPECT_EQ(samples, 5);
}

// Whoever was stuck in the driver hands on nothing any more, however the call ends.
TEST_F(LiveFeedTest, NobodyHandsOnSamplesAfterTheEnd) {
  open({{"GPU-0"}, {"GPU-1"}}, {.interval = 10ms, .rates = Rates::never});
  ASSERT_TRUE(feed_->next());
  std::atomic<int> taken = 0;
  std::stop_source stop;
  source_->hang("GPU-0");
  std::jthread later([&] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });
  EXPECT_TRUE(feed_->follow(stop.get_token(), [&](const SnapshotPtr &) { return ++taken, true; }));
  const int before = taken;
  source_->release();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(taken, before);
}

TEST_F(LiveFeedTest, AStopEndsTheWaitForADiscoveryThatHangs) {
  open({{"GPU-0"}}, {.interval = 10ms});
  source_->hang(Fake::kEverything);
  EXPECT_LT(time_to_stop(), 200ms);
}

TEST_F(LiveFeedTest, AStopEndsTheWaitForACallThatHangs) {
  open({{"GPU-0"}}, {.interval = 10ms});
  ASSERT_TRUE(feed_->next());
  source_->hang("GPU-0");
  EXPECT_LT(time_to_stop(), 200ms);
}

TEST_F(LiveFeedTest, NullOnceAStopWasAskedFor) {
  open({{"GPU-0"}}, {});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(feed_->once(stop.get_token()).value(), nullptr);
  EXPECT_EQ(feed_->again(stop.get_token()).value(), nullptr);
  EXPECT_EQ(feed_->next(stop.get_token()).value(), nullptr);
}

TEST(ReplayFeed, PlaysTheDemoToItsEndForAllSubscribers) {
  const auto feed = open({.demo = true, .speed = 1e9});
  ASSERT_TRUE(feed);
  EXPECT_FALSE((*feed)->is_live());
  const auto samples = (*feed)->recording()->end();
  std::uint64_t one = 0, other = 0;
  const auto first = (*feed)->subscribe([&](const SnapshotPtr &) { ++one; });
  const auto second = (*feed)->subscribe([&](const SnapshotPtr &) { ++other; });
  EXPECT_TRUE((*feed)->run({}));
  EXPECT_GT(samples, 1000U);
  EXPECT_EQ(one, samples);
  EXPECT_EQ(other, samples);
}

TEST(ReplayFeed, AFileThatIsNotThereIsAnError) {
  const auto feed = open({.replay = "/nonexistent.gpr"});
  ASSERT_FALSE(feed);
  EXPECT_NE(feed.error().line().find("/nonexistent.gpr"), std::string::npos);
}

}  // namespace
}  // namespace gpulse::feed

// SPDX-License-Identifier: Apache-2.0
#include "record/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>

#include "codec/testing.hpp"
#include "record/demo.hpp"
#include "record/recording_writer.hpp"
#include "record/trace.hpp"
#include "test_paths.hpp"

namespace gpulse::record {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class FakeClock final : public PlayClock {
 public:
  Monotonic now() override { return now_; }
  bool wait_until(Monotonic time, const std::stop_token &) override {
    waited_ += time - now_;
    now_ = time;
    return !stops_;
  }

  Monotonic now_{100s};
  Monotonic::duration waited_{};
  bool stops_ = false;
};

class ReplayTest : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }

  // A recording with a sample at each of these times.
  Replay recording(const std::vector<std::chrono::milliseconds> &times) const {
    {
      auto writer = RecordingWriter::open(path_, Existing::overwrite);
      for (const auto time : times) {
        Snapshot snapshot;
        snapshot.time = WallTime(1000h) + time;
        EXPECT_TRUE(writer->write(snapshot));
      }
    }
    auto feed = Replay::open(path_);
    EXPECT_TRUE(feed) << feed.error().line();
    return std::move(*feed);
  }
  void put(std::string_view text) const { std::ofstream(path_, std::ios::binary) << text; }

  std::string path_ = ::testing::TempDir() + "gpulse_replay_" + std::to_string(::getpid()) + "_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST(Demo, IsTheTrace) {
  std::ifstream file(kSourceDir + "/data/h200_trace.csv", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto trace = import_trace(text, "trace", "DEMO");
  auto demo = Replay::demo();
  ASSERT_TRUE(trace && demo);
  ASSERT_EQ(demo->size(), trace->size());
  for (std::size_t i = 0; i < trace->size(); ++i) {
    const auto sample = demo->at(i);
    ASSERT_TRUE(sample);
    ASSERT_TRUE(codec::testing::same(**sample, *(*trace)[i])) << i;
  }
  EXPECT_EQ(demo->skipped(), 0);
  // One H200 takes well below 150 bytes a sample.
  EXPECT_LT(demo_recording().size(), trace->size() * 80);
}

TEST_F(ReplayTest, KnowsARecordingFromATrace) {
  auto feed = recording({0ms, 100ms});
  EXPECT_EQ(feed.size(), 2);
  EXPECT_EQ((*feed.at(0))->origin, "REPLAY");
  EXPECT_EQ(feed.last_time() - feed.first_time(), 100ms);
  EXPECT_EQ(feed.find(feed.first_time() + 50ms), 0);
  EXPECT_FALSE(feed.at(2));

  put("util_gpu_pct,t_s\n7,0.1\n8,0.2\n");
  const auto trace = Replay::open(path_);
  ASSERT_TRUE(trace);
  feed = Replay::open(path_).value();
  EXPECT_EQ(feed.size(), 2);
  EXPECT_EQ((*feed.at(1))->origin, "REPLAY");
  EXPECT_EQ(feed.find(feed.last_time()), 1);
  EXPECT_EQ(feed.find(feed.first_time() - 1s), 0);
  EXPECT_EQ(feed.skipped(), 0);
  EXPECT_FALSE(feed.at(2));
}

TEST_F(ReplayTest, ClearErrors) {
  const auto error = [&] { return Replay::open(path_).error().line(); };
  EXPECT_THAT(error(), HasSubstr("No such file"));
  put("");
  EXPECT_THAT(error(), HasSubstr("is empty"));
  put("name,size\n");
  EXPECT_THAT(error(), HasSubstr("is not a recording"));
  put("t_s,pstate\n");
  EXPECT_THAT(error(), HasSubstr("holds no sample"));
  put(std::string(codec::kMagic.begin(), codec::kMagic.end()) + std::string("\x02\0\0\0", 4));
  EXPECT_THAT(error(), HasSubstr("holds no sample"));
}

TEST_F(ReplayTest, KeepsTimeAtAnySpeed) {
  for (const double speed : {0.5, 1.0, 10.0}) {
    auto feed = recording({0ms, 100ms, 300ms, 1300ms});
    FakeClock clock;
    const auto start = clock.now_;
    ASSERT_TRUE(feed.play(speed, 0, clock));
    const double expected[] = {0, 0.1, 0.3, 1.3};
    for (const double seconds : expected) {
      ASSERT_NE(*feed.wait_next(), nullptr);
      EXPECT_NEAR(Seconds(clock.now_ - start).count(), seconds / speed, 1e-6);
    }
    EXPECT_EQ(*feed.wait_next(), nullptr);
    EXPECT_EQ(feed.position(), 4);
  }
}

TEST_F(ReplayTest, LateCallersCatchUpAndMissNothing) {
  auto feed = recording({0ms, 100ms, 200ms, 300ms});
  FakeClock clock;
  ASSERT_TRUE(feed.play(1, 0, clock));
  EXPECT_EQ((*feed.wait_next())->time, feed.time(0));
  clock.now_ += 250ms;  // the caller was busy
  EXPECT_EQ((*feed.wait_next())->time, feed.time(1));
  EXPECT_EQ((*feed.wait_next())->time, feed.time(2));
  EXPECT_EQ(clock.waited_, 0ms);
  EXPECT_EQ((*feed.wait_next())->time, feed.time(3));
  EXPECT_EQ(clock.waited_, 50ms);
}

TEST_F(ReplayTest, LongPausesAndClocksSetBackDoNotHold) {
  auto feed = recording({0ms, 3'600'000ms, 3'500'000ms, 3'500'100ms});
  FakeClock clock;
  ASSERT_TRUE(feed.play(1, 0, clock));
  while (*feed.wait_next()) {
  }
  EXPECT_EQ(clock.waited_, 1100ms);
}

TEST_F(ReplayTest, WithoutWaitingFromTheMiddleAndStopped) {
  auto feed = recording({0ms, 100ms, 200ms});
  FakeClock clock;
  ASSERT_TRUE(feed.play(std::numeric_limits<double>::infinity(), 1, clock));
  EXPECT_EQ((*feed.wait_next())->time, feed.time(1));
  EXPECT_EQ((*feed.wait_next())->time, feed.time(2));
  EXPECT_EQ(clock.waited_, 0ms);
  for (const double speed : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(feed.play(speed, 0, clock));
  }
  ASSERT_TRUE(feed.play(1, 0, clock));
  ASSERT_NE(*feed.wait_next(), nullptr);
  clock.stops_ = true;
  EXPECT_EQ(*feed.wait_next(), nullptr);
  EXPECT_EQ(feed.position(), 1);
}

TEST_F(ReplayTest, SteadyClockStopsWhenAsked) {
  std::stop_source stop;
  const std::jthread asks([&] { stop.request_stop(); });
  EXPECT_FALSE(steady_play_clock().wait_until(monotonic_now() + 1h, stop.get_token()));
  EXPECT_TRUE(steady_play_clock().wait_until(monotonic_now() + 1ms, {}));
}

}  // namespace
}  // namespace gpulse::record

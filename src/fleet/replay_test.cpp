// SPDX-License-Identifier: Apache-2.0
// A history of one GPU: its use is the second of the minute, ann is on it from second 25 on.
#include "fleet/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "fleet/decoded.hpp"
#include "fleet/write_request.hpp"
#include "history/testing.hpp"

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using history::testing::at;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class AReplay : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = history::testing::open_store(path_);
    ASSERT_TRUE(store);
    keep(*store, 0, 60);
    keep(*store, 1000, 1020);  // the agent was away for a quarter of an hour
    store.reset();
    auto reader = history::Reader::open(path_);
    ASSERT_TRUE(reader.has_value()) << reader.error().line();
    reader_.emplace(std::move(*reader));
  }

  template <class Store>
  static void keep(Store &store, int from, int to) {
    for (int second = from; second < to; ++second) {
      Snapshot now;
      now.time = at(second);
      auto device = history::testing::make_device(0);
      device.row[device_metric("gpu_utilization_percent")] = second % 60;
      now.devices.push_back(device);
      if (second >= 25) now.processes.push_back(history::testing::make_process(4711, 0, "ann", "python train.py"));
      history::testing::append(store, now);
    }
  }

  std::vector<Step> steps(Replay &replay, int until, std::size_t most = 1'000'000, int now = 5000) {
    auto got = replay.next(*reader_, at(until), at(now), most);
    EXPECT_TRUE(got.has_value());
    return got.value_or(std::vector<Step>());
  }
  static std::vector<int> seconds(const std::vector<Step> &steps) {
    std::vector<int> all;
    for (const auto &step : steps) {
      all.push_back(static_cast<int>(step.time_ms / 1000 - at(0).time_since_epoch() / 1s));
    }
    return all;
  }
  // By name.
  static std::map<std::string, Written> read(const Step &step) {
    std::map<std::string, Written> all;
    for (auto &series : decode_write_request(encode_write_request({&step, 1}))) {
      all.emplace(series.labels.at("__name__"), series);
    }
    return all;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("/history.db");
  std::optional<history::Reader> reader_;
};

TEST_F(AReplay, HasTheLastSampleOfEachStepThatIsOver) {
  Replay replay({}, at(0) - 1s);
  const auto got = steps(replay, 60);
  // Those of 50 to 59 may still get more.
  EXPECT_THAT(seconds(got), ElementsAre(9, 19, 29, 39, 49));
  const auto page = read(got[2]);
  EXPECT_DOUBLE_EQ(page.at("gpulse_gpu_utilization_ratio").samples.at(0).second, 0.29);
  EXPECT_EQ(page.at("gpulse_gpu_owner_info").labels.at("user"), "ann");
  EXPECT_THAT(read(got[1]), Not(Contains(::testing::Key("gpulse_gpu_owner_info"))));
}

TEST_F(AReplay, GoesOnWhereItWas) {
  Replay whole({}, at(0) - 1s);
  const auto all = steps(whole, 60);
  Replay parts({}, at(0) - 1s);
  std::vector<Step> some;
  for (int until = 1; until <= 60; until += 7) {
    for (auto &step : steps(parts, until)) some.push_back(std::move(step));
  }
  ASSERT_EQ(seconds(some), seconds(all));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(some[i].samples.size(), all[i].samples.size());
}

TEST_F(AReplay, AfterARestartNothingIsMissingAndNothingComesTwice) {
  Replay before({}, at(0) - 1s);
  EXPECT_THAT(seconds(steps(before, 27)), ElementsAre(9, 19));
  Replay after({}, at(19));
  EXPECT_THAT(seconds(steps(after, 60)), ElementsAre(29, 39, 49));
}

TEST_F(AReplay, TakesNoMoreThanWasAskedForAtOnce) {
  Replay replay({}, at(0) - 1s);
  std::vector<int> all;
  for (auto some = steps(replay, 60, 1); !some.empty(); some = steps(replay, 60, 1)) {
    EXPECT_THAT(some, SizeIs(1));
    all.push_back(seconds(some).front());
  }
  EXPECT_THAT(all, ElementsAre(9, 19, 29, 39, 49));
}

TEST_F(AReplay, AllSeriesEndWhereTheAgentWasAway) {
  Replay replay({}, at(0) - 1s);
  const auto got = steps(replay, 1020);
  EXPECT_THAT(seconds(got), ElementsAre(9, 19, 29, 39, 49, 59, 69, 1009));
  EXPECT_THAT(got[6].samples, SizeIs(got[5].samples.size()));
  const auto is_end = [](const Sample &sample) { return std::isnan(sample.value); };
  for (const auto &sample : got[6].samples) EXPECT_TRUE(is_end(sample));
  for (const auto &sample : got[7].samples) EXPECT_FALSE(is_end(sample));
}

TEST_F(AReplay, TheAgentSpeaksOfItselfOnlyInThePresent) {
  view::AgentNumbers numbers;
  numbers.history = view::AgentNumbers::History{.kept = 5};
  ReplayOptions options{.agent = [&] { return numbers; }};
  Replay past(options, at(0) - 1s);
  for (const auto &step : steps(past, 60)) {
    EXPECT_THAT(read(step), Not(Contains(::testing::Key("gpulse_self_history_samples_total"))));
  }
  Replay present(options, at(0) - 1s);
  const auto now = steps(present, 60, 1'000'000, 61);
  EXPECT_EQ(read(now.back()).at("gpulse_self_history_samples_total").samples.at(0).second, 5);
}

TEST_F(AReplay, WhatTheEnginesClockHasNotReachedWaits) {
  Replay replay({}, at(0) - 1s);
  EXPECT_THAT(seconds(steps(replay, 19)), ElementsAre(9));
  EXPECT_THAT(seconds(steps(replay, 20)), ElementsAre(19));
}

TEST_F(AReplay, ACounterGrowsAsItDoesForAScraper) {
  Replay replay({.step = 20s}, at(0) - 1s);
  const auto got = steps(replay, 60);
  ASSERT_THAT(seconds(got), ElementsAre(19, 39));
  // The use of each second holds until the next sample: 1 + 2 + … + 39 percent of a second, or without the first of a
  // stretch one less.
  const auto busy = [&](const Step &step) { return read(step).at("gpulse_busy_seconds_total").samples.at(0).second; };
  EXPECT_NEAR(busy(got[0]), 1.8, 0.1);
  EXPECT_NEAR(busy(got[1]) - busy(got[0]), 5.9, 0.1);
}

}  // namespace
}  // namespace gpulse::fleet

// SPDX-License-Identifier: Apache-2.0
#include "history/sample_index.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "history/testing.hpp"

namespace gpulse::history {
namespace {

using namespace std::chrono_literals;
using testing::append;
using testing::at;
using testing::make_device;
using testing::open_store;

constexpr auto kUse = device_metric("gpu_utilization_percent");

// A GPU whose use is the second of the minute.
class ASampleIndex : public ::testing::Test {
 protected:
  void add(Store &store, double from, int count) {
    std::vector<TimedSample> all;
    for (int i = 0; i < count; ++i) {
      Snapshot now;
      now.time = at(from + i);
      now.hostname = "node17";
      auto device = make_device(0);
      device.row[kUse] = static_cast<int>(from + i) % 60;
      now.devices.push_back(device);
      all.push_back({std::make_shared<const Snapshot>(now), 1});
    }
    append(store, all);
  }
  SampleIndex index(double from, double to) {
    auto reader = Reader::open(path_);
    EXPECT_TRUE(reader.has_value()) << reader.error().line();
    reader_.emplace(std::move(*reader));
    auto read = SampleIndex::read(*reader_, {at(from), at(to)});
    EXPECT_TRUE(read.has_value()) << read.error().line();
    return std::move(*read);
  }
  void change(const std::string &sql) const {
    auto database = Database::open(path_, Database::Mode::write);
    ASSERT_TRUE(database.has_value() && database->run(sql).has_value());
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("/history.db");
  std::optional<Reader> reader_;
};

TEST_F(ASampleIndex, FindsEverySampleByNumberAndByTime) {
  add(*open_store(path_), 0, 625);  // five chunks, and some that are not packed yet
  auto all = index(30, 620);
  ASSERT_EQ(all.size(), 590U);
  // Backwards, so that nothing depends on what was asked before.
  for (int i = 589; i >= 0; --i) {
    const auto number = static_cast<std::size_t>(i);
    ASSERT_EQ(all.time(number), at(30 + i));
    ASSERT_EQ(all.find(at(30 + i) + 500ms), number);
    const auto sample = all.at(number);
    ASSERT_TRUE(sample.has_value());
    ASSERT_EQ((*sample)->devices.at(0).row[kUse], Reading((30 + i) % 60));
  }
  EXPECT_EQ(all.find(at(0)), 0U);
  EXPECT_EQ(all.find(at(1000)), 589U);
}

TEST_F(ASampleIndex, SortsWhatWasWrittenAfterTheClockWentBack) {
  {
    const auto store = open_store(path_);
    add(*store, 0, 200);
    add(*store, 100.5, 150);
  }
  auto all = index(-10, 1000);
  ASSERT_EQ(all.size(), 350U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) {
      ASSERT_LT(all.time(i - 1), all.time(i));
    }
    ASSERT_EQ((*all.at(i))->time, all.time(i));
    ASSERT_EQ(all.find(all.time(i)), i);
  }
}

TEST_F(ASampleIndex, GoesOnBehindADamagedChunk) {
  add(*open_store(path_), 0, 400);
  change("UPDATE raw SET data=x'0011' WHERE id=2");
  auto all = index(-10, 1000);
  ASSERT_EQ(all.size(), 400U) << "their numbers stay theirs";
  const auto damaged = all.at(150);
  ASSERT_TRUE(damaged.has_value());
  EXPECT_TRUE((*damaged)->devices.empty());
  ASSERT_EQ((*damaged)->sources.size(), 1U);
  EXPECT_FALSE((*damaged)->sources[0].problem.empty());
  EXPECT_EQ((*damaged)->time, at(150)) << "a sample a second";
  EXPECT_EQ((*all.at(240))->devices.at(0).row[kUse], Reading(0));
  EXPECT_EQ((*all.at(119))->devices.at(0).row[kUse], Reading(59));
}

TEST_F(ASampleIndex, HasTensAndMinutesBeforeTheSeconds) {
  add(*open_store(path_), 0, 625);
  change("DELETE FROM raw WHERE id<4; DELETE FROM host_10s WHERE time<" + std::to_string(testing::kStart + 180));
  auto all = index(-10, 1000);
  // Minutes 0 to 2, tens from 180 s to 360 s, then seconds.
  ASSERT_EQ(all.size(), 3U + 18U + 265U);
  EXPECT_EQ(all.time(2), at(120));
  EXPECT_EQ(all.time(3), at(180));
  EXPECT_EQ(all.time(20), at(350));
  EXPECT_EQ(all.time(21), at(360));
  EXPECT_EQ((*all.at(1))->devices.at(0).row[kUse], Reading(29.5));
  EXPECT_EQ((*all.at(3))->devices.at(0).row[kUse], Reading(4.5));
  EXPECT_EQ((*all.at(1))->hostname, Text("node17"));
  EXPECT_EQ(all.find(at(179)), 2U);
  EXPECT_EQ(all.find(at(359)), 20U);
}

}  // namespace
}  // namespace gpulse::history

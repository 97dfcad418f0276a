// SPDX-License-Identifier: Apache-2.0
// How much a history holds, whatever the clock, the disk and the limits do.
#include "history/retention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/temporary_folder.hpp"
#include "history/testing.hpp"

namespace gpulse::history {
namespace {

using namespace std::chrono_literals;
using testing::at;

constexpr int kYear = 365 * 24 * 3600;

Snapshot sample(double second, std::size_t devices = 1) {
  Snapshot now;
  now.time = at(second);
  now.host[host_metric("cpu_percent")] = 50;
  for (std::size_t i = 0; i < devices; ++i) {
    now.devices.push_back(testing::make_device(static_cast<std::uint32_t>(i)));
    // No two values are the same, so that nothing can be packed well.
    for (auto &reading : now.devices.back().row.readings()) {
      reading =
          std::sin(second * 12.9898 + static_cast<double>(&reading - &now.devices.back().row.readings()[0]) * 78.2);
    }
  }
  return now;
}

class RetentionTest : public ::testing::Test {
 protected:
  std::string path() const { return folder.path("/history.db"); }
  void open(const Keep &keep) {
    store.reset();
    store = testing::open_store(path(), keep);
  }
  // One sample each second.
  void append(int from, int to, std::size_t devices = 1) {
    std::vector<TimedSample> samples;
    for (int second = from; second < to; ++second) {
      samples.push_back({std::make_shared<const Snapshot>(sample(second, devices)), 1});
      if (samples.size() == 10 || second + 1 == to) {
        testing::append(*store, samples);
        ASSERT_TRUE(store->write_back().has_value());
        samples.clear();
      }
    }
  }
  void tidy(int times = 1) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(store->tidy().has_value());
  }
  std::int64_t count(const std::string &what) const {
    auto database = Database::open(path(), Database::Mode::read);
    return database->integer("SELECT " + what)->value_or(-1);
  }
  std::uint64_t on_disk() const {
    std::uint64_t bytes = 0;
    for (const auto &file : std::filesystem::directory_iterator(folder.path())) bytes += file.file_size();
    return bytes;
  }

  TemporaryFolder folder;
  std::unique_ptr<Store> store;
};

// A quarter of an hour second by second, half an hour of ten seconds, three hours of minutes.
constexpr Keep kLittle{.raw = 15min, .ten_seconds = 30min, .minute = 3h, .free_bytes = 0};

TEST_F(RetentionTest, HoldsAsMuchTimeAsAskedFor) {
  open(kLittle);
  append(0, 3600);
  tidy(20);
  EXPECT_NEAR(static_cast<double>(count("sum(samples) FROM raw")), 900, 121);
  EXPECT_NEAR(static_cast<double>(count("count(*) FROM device_10s")), 180, 61);
  EXPECT_EQ(count("count(*) FROM device_1min"), 59);
  EXPECT_GE(count("min(time) FROM device_10s"), testing::kStart + 1200);
}

TEST_F(RetentionTest, AClockThatJumpsAYearAheadDeletesNothing) {
  open(kLittle);
  append(0, 600);
  append(kYear, kYear + 240);
  tidy(20);
  EXPECT_EQ(count("(SELECT sum(samples) FROM raw) + (SELECT count(*) FROM raw_tail)"), 840);
  EXPECT_EQ(count("sum(seconds) FROM device_10s"), 840 - 10);
  EXPECT_EQ(count("min(time) FROM device_1min"), testing::kStart);
}

TEST_F(RetentionTest, WhatAWrongClockWroteGoesFirst) {
  open(kLittle);
  append(kYear, kYear + 700);
  append(0, 1800);
  // The store knows of nothing but the file.
  open(kLittle);
  append(1800, 1921);
  tidy(20);
  const auto ahead = std::to_string(testing::kStart + kYear);
  EXPECT_EQ(count("count(*) FROM raw WHERE first_time >= " + ahead + "000000000"), 0);
  EXPECT_EQ(count("count(*) FROM device_10s WHERE time >= " + ahead), 0);
  EXPECT_NEAR(static_cast<double>(count("count(*) FROM device_10s")), 180, 61);
  EXPECT_GE(count("max(time) FROM device_10s"), testing::kStart + 1800);
}

TEST_F(RetentionTest, AClockThatIsSetBackKeepsBothTurns) {
  open(kLittle);
  append(0, 121);
  append(0, 121);
  EXPECT_EQ(count("(SELECT sum(samples) FROM raw) + (SELECT count(*) FROM raw_tail)"), 242);
  EXPECT_EQ(count("count(*) FROM device_1min WHERE seconds=60 AND turn=0"), 2);
  EXPECT_EQ(count("count(*) FROM device_1min WHERE seconds=60 AND turn=1"), 2);
  EXPECT_EQ(count("sum(turn) FROM device_10s"), 12);
}

TEST_F(RetentionTest, AProcessStaysTheSameWhateverTheClockDoes) {
  open(kLittle);
  auto now = sample(0);
  const auto run = [&](std::uint32_t pid, int from, int to) {
    for (int second = from; second < to; ++second) {
      now.time = at(second);
      now.processes = {testing::make_process(pid, 0, "ann", "train")};
      testing::append(*store, now);
    }
  };
  run(100, kYear, kYear + 70);
  // The clock is set right.
  run(300, 0, 200);
  open(kLittle);
  run(300, 200, 210);
  EXPECT_EQ(count("count(*) FROM process WHERE pid=300"), 1);
}

TEST_F(RetentionTest, ASuspendIsAGap) {
  open(kLittle);
  append(0, 30);
  append(1000, 1070);
  EXPECT_EQ(count("count(*) FROM device_10s WHERE time BETWEEN 1700000070 AND 1700001030"), 0);
  EXPECT_EQ(count("sum(seconds) FROM device_1min WHERE time=1700000040"), 30);
  EXPECT_EQ(count("count(*) FROM device_1min"), 2);
}

TEST_F(RetentionTest, AMachineThatWasOffForAMonthLosesNothing) {
  open(kLittle);
  append(0, 800);
  open(kLittle);
  append(30 * 24 * 3600, 30 * 24 * 3600 + 61);
  tidy(20);
  EXPECT_GE(count("sum(samples) FROM raw"), 800);
}

TEST_F(RetentionTest, StaysBelowItsSizeWithAllItsFiles) {
  constexpr std::uint64_t kMost = std::uint64_t{8} << 20U;
  open({.bytes = kMost, .free_bytes = 0});
  std::uint64_t most = 0;
  for (int i = 0; i < 80; ++i) {
    ASSERT_EQ(store->is_held_up(), false);
    append(60 * i, 60 * (i + 1), 2);
    tidy();
    most = std::max(most, on_disk());
  }
  EXPECT_LT(most, kMost);
  EXPECT_GT(most, kMost / 2) << "it never got that far";
  EXPECT_EQ(count("max(time) FROM device_1min"), testing::kStart + std::int64_t{60} * 78);
  auto database = Database::open(path(), Database::Mode::read);
  EXPECT_EQ(database->text("PRAGMA integrity_check"), "ok");
}

TEST_F(RetentionTest, ASmallerSizeGivesTheDiskItsRoomBack) {
  open({.free_bytes = 0});
  append(0, 60 * 40, 2);
  const auto before = on_disk();
  constexpr std::uint64_t kMost = std::uint64_t{3} << 20U;
  ASSERT_GT(before, 2 * kMost);
  open({.bytes = kMost, .free_bytes = 0});
  append(60 * 40, 60 * 41, 2);
  tidy(100);
  store.reset();
  EXPECT_LT(on_disk(), kMost);
}

// As when others have filled the disk: the history takes no more of it.
TEST_F(RetentionTest, WhereTheDiskHasNoMoreToGiveTheNewTakesThePlaceOfTheOld) {
  open({.free_bytes = 0});
  append(0, 60 * 20, 2);
  open({.free_bytes = std::uint64_t{1} << 60U});
  append(60 * 20, 60 * 21, 2);
  EXPECT_EQ(store->has_room(), false);
  tidy(10);
  EXPECT_EQ(store->has_room(), true);
  const auto before = on_disk();
  for (int minute = 21; minute < 50; ++minute) {
    append(60 * minute, 60 * (minute + 1), 2);
    tidy();
    ASSERT_EQ(store->has_room(), true);
  }
  EXPECT_LE(on_disk(), before + (std::uint64_t{5} << 20U)) << "more than the journal was added";
  EXPECT_GE(count("max(time) FROM device_1min"), testing::kStart + std::int64_t{60} * 48);
}

TEST_F(RetentionTest, NothingIsBegunOnADiskThatIsFull) {
  open({.free_bytes = std::uint64_t{1} << 60U});
  append(0, 2);
  tidy(3);
  EXPECT_EQ(store->has_room(), false);
}

}  // namespace
}  // namespace gpulse::history

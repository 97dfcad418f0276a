// SPDX-License-Identifier: Apache-2.0
// Files that a log is moved to: when, under which names, and that no line is lost or doubled on the way.
#include "sink/rotation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <csignal>
#include <filesystem>
#include <random>

#include "base/temporary_folder.hpp"
#include "sink/gzip.hpp"
#include "sink/testing.hpp"
#include "view/testing.hpp"

namespace gpulse::sink {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::bytes_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kNoon = "2026-11-16T12-00-00.000Z";

std::string unpacked(const std::string &path) {
  std::string text;
  const auto file = ::gzopen(path.c_str(), "rb");
  std::array<char, 4096> piece{};
  for (int got = 0; (got = ::gzread(file, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  EXPECT_EQ(::gzclose(file), Z_OK) << path;
  return text;
}

WallTime at(std::chrono::nanoseconds after) { return *parse_stamp(kNoon) + after; }

class RotationTest : public ::testing::Test {
 protected:
  SinkOptions options(RotationOptions rotation, Existing existing = Existing::refuse) const {
    return {.format = Format::csv,
            .path = folder.path("/log.csv"),
            .fields = {"time", "index"},
            .existing = existing,
            .rotation = rotation};
  }
  // Samples of one device at these times; each is a line of 27 bytes, the titles are 11.
  static std::string log(const SinkOptions &options, const std::vector<std::chrono::nanoseconds> &times) {
    auto sink = open(options);
    if (!sink) return sink.error().line();
    Snapshot snapshot;
    snapshot.devices.push_back(view::testing::make_device(0));
    for (const auto time : times) {
      snapshot.time = at(time);
      if (const auto written = (*sink)->write(snapshot); !written) return written.error().line();
    }
    (void)(*sink)->close();
    const auto complaint = (*sink)->take_complaint();
    return complaint ? complaint->line() : "";
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto &entry : fs::directory_iterator(folder.path())) found.push_back(entry.path().filename());
    std::ranges::sort(found);
    return found;
  }
  std::string old_file(std::string_view stamp) const { return folder.path("/log.csv.") + std::string(stamp); }

  TemporaryFolder folder;
};

TEST_F(RotationTest, AFullFileIsMovedAndCompressedAndTheNextHasItsTitles) {
  EXPECT_EQ(log(options({.bytes = 70}), {0s, 1s, 2s, 3s, 4s}), "");
  EXPECT_THAT(names(),
              ElementsAre("log.csv", "log.csv.2026-11-16T12-00-02.000Z.gz", "log.csv.2026-11-16T12-00-04.000Z.gz"));
  EXPECT_EQ(unpacked(old_file("2026-11-16T12-00-02.000Z.gz")),
            "time,index\n2026-11-16T12:00:00.000Z,0\n2026-11-16T12:00:01.000Z,0\n");
  EXPECT_EQ(unpacked(old_file("2026-11-16T12-00-04.000Z.gz")),
            "time,index\n2026-11-16T12:00:02.000Z,0\n2026-11-16T12:00:03.000Z,0\n");
  EXPECT_EQ(bytes_of(folder.path("/log.csv")), "time,index\n2026-11-16T12:00:04.000Z,0\n");
}

TEST_F(RotationTest, ASampleThatIsLargerThanAFileStandsAlone) {
  EXPECT_EQ(log(options({.bytes = 5}), {0s, 1s}), "");
  EXPECT_THAT(names(), ElementsAre("log.csv", "log.csv.2026-11-16T12-00-01.000Z.gz"));
}

TEST_F(RotationTest, TimesAreFullOnes) {
  EXPECT_EQ(log(options({.time = 1h}), {-10min, -1ms, 0s, 59min, 61min}), "");
  EXPECT_THAT(names(),
              ElementsAre("log.csv", "log.csv.2026-11-16T12-00-00.000Z.gz", "log.csv.2026-11-16T13-01-00.000Z.gz"));
  EXPECT_EQ(period_of(WallTime(-1ns), 1h), -1);
  EXPECT_EQ(period_of(WallTime(0ns), 1h), 0);
}

TEST_F(RotationTest, AClockThatIsSetBackBeginsNoFileTwice) {
  EXPECT_EQ(log(options({.time = 1min}), {59s, 60s, 59s, 61s, 58s, 62s}), "");
  EXPECT_THAT(names(), ElementsAre("log.csv", "log.csv.2026-11-16T12-01-00.000Z.gz"));
  // Set back for good: there is a new file, and names go on growing.
  EXPECT_EQ(log(options({.time = 1min}, Existing::overwrite), {1h, 1h + 1s, 0s, 1min}), "");
  EXPECT_THAT(names(), ElementsAre("log.csv", "log.csv.2026-11-16T12-01-00.000Z.gz",
                                   "log.csv.2026-11-16T12-01-00.001Z.gz", "log.csv.2026-11-16T12-01-00.002Z.gz"));
}

TEST_F(RotationTest, AFileThatIsGoneOnWithIsCountedFromItsBeginning) {
  EXPECT_EQ(log(options({.bytes = 70}), {0s, 1s}), "");
  EXPECT_EQ(log(options({.bytes = 70}, Existing::append), {2s}), "");
  EXPECT_THAT(names(), ElementsAre("log.csv", "log.csv.2026-11-16T12-00-02.000Z.gz"));
  // By time: last written to in the hour before.
  fs::last_write_time(folder.path("/log.csv"), std::chrono::file_clock::from_sys(at(-1s)));
  EXPECT_EQ(log(options({.time = 1h}, Existing::append), {3s, 4s}), "");
  EXPECT_THAT(names(),
              ElementsAre("log.csv", "log.csv.2026-11-16T12-00-02.000Z.gz", "log.csv.2026-11-16T12-00-03.000Z.gz"));
  fs::last_write_time(folder.path("/log.csv"), std::chrono::file_clock::from_sys(at(5s)));
  EXPECT_EQ(log(options({.time = 1h}, Existing::append), {6s}), "");
  EXPECT_EQ(names().size(), 3U);
}

TEST_F(RotationTest, OnlyTheNewestAreKeptAndNobodyElsesFileIsTouched) {
  for (const auto *const name : {"/log.csv.gz", "/log.csv.old", "/log.csv.2026-11-16T12-00-00.000Z.bak",
                                 "/log.csv.2026-13-16T12-00-00.000Z", "/other.csv.2026-11-16T12-00-00.000Z"}) {
    folder.write(name, "years of work");
  }
  const auto before = names();
  EXPECT_EQ(log(options({.bytes = 5, .keep = 2}), {0s, 1s, 2s, 3s, 4s}), "");
  auto now = names();
  std::erase_if(now, [&](const std::string &name) { return std::ranges::find(before, name) != before.end(); });
  EXPECT_THAT(now,
              ElementsAre("log.csv", "log.csv.2026-11-16T12-00-03.000Z.gz", "log.csv.2026-11-16T12-00-04.000Z.gz"));
  EXPECT_EQ(names().size(), now.size() + before.size());
}

TEST_F(RotationTest, WhatAKilledOneLeftIsFinished) {
  // Moved, but not compressed; half compressed; compressed, but not yet removed.
  const auto moved = old_file("2026-11-16T10-00-00.000Z");
  const auto half = old_file("2026-11-16T11-00-00.000Z");
  const auto both = old_file("2026-11-16T12-00-00.000Z");
  for (const auto &path : {moved, half, both}) std::ofstream(path) << path;
  ASSERT_TRUE(compress_file(both));
  std::ofstream(both) << both;
  std::ofstream(half + ".gz.tmp") << "\x1f\x8b half of it";
  EXPECT_THAT(tidy_old_files(folder.path("/log.csv"), 10), IsEmpty());
  EXPECT_THAT(names(), ElementsAre("log.csv.2026-11-16T10-00-00.000Z.gz", "log.csv.2026-11-16T11-00-00.000Z.gz",
                                   "log.csv.2026-11-16T12-00-00.000Z.gz"));
  for (const auto &path : {moved, half, both}) EXPECT_EQ(unpacked(path + ".gz"), path);
}

TEST_F(RotationTest, AFileThatCannotBeCompressedStays) {
  const auto path = old_file(kNoon);
  std::string noise;
  std::mt19937 chance(1);
  for (int i = 0; i < 1'000'000; ++i) noise += static_cast<char>(chance());
  std::ofstream(path, std::ios::binary) << noise;
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 300'000, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto errors = tidy_old_files(folder.path("/log.csv"), 10);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0].line(), HasSubstr("cannot compress " + path + ": File too large"));
  EXPECT_THAT(names(), ElementsAre("log.csv." + std::string(kNoon)));
  EXPECT_TRUE(bytes_of(path) == noise);
  // There is room again.
  EXPECT_THAT(tidy_old_files(folder.path("/log.csv"), 10), IsEmpty());
  EXPECT_TRUE(unpacked(path + ".gz") == noise);
}

TEST_F(RotationTest, ACompressionThatIsStoppedLeavesTheFile) {
  folder.write("/log.csv." + std::string(kNoon), "a line\n");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(compress_file(old_file(kNoon), stop.get_token()));
  EXPECT_THAT(names(), ElementsAre("log.csv." + std::string(kNoon)));
}

TEST_F(RotationTest, AFileOfSomebodyElseInItsPlaceIsLeftAlone) {
  auto sink = open(options({.bytes = 5}));
  ASSERT_TRUE(sink);
  Snapshot snapshot;
  snapshot.time = at(0s);
  snapshot.devices.push_back(view::testing::make_device(0));
  ASSERT_TRUE((*sink)->write(snapshot));
  // Taken away: a new one is begun.
  fs::rename(folder.path("/log.csv"), folder.path("/taken"));
  ASSERT_TRUE((*sink)->write(snapshot));
  EXPECT_THAT(names(), ElementsAre("log.csv", "taken"));
  fs::remove(folder.path("/log.csv"));
  folder.write("/log.csv", "years of work");
  const auto refused = (*sink)->write(snapshot);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().line(), HasSubstr("another program replaced it"));
  EXPECT_EQ(bytes_of(folder.path("/log.csv")), "years of work");
}

TEST_F(RotationTest, ALinkStaysOne) {
  folder.write("/real/log.csv", "");
  folder.link("/log.csv", "real/log.csv");
  EXPECT_EQ(log(options({.bytes = 5}), {0s, 1s}), "");
  EXPECT_TRUE(fs::is_symlink(folder.path("/log.csv")));
  EXPECT_TRUE(fs::exists(folder.path("/real/log.csv.2026-11-16T12-00-01.000Z.gz")));
}

TEST(Stamp, IsATimeOrNone) {
  const auto time = parse_stamp("2026-11-16T17-05-00.123Z");
  ASSERT_TRUE(time);
  EXPECT_EQ(stamp_of(*time), "2026-11-16T17-05-00.123Z");
  for (const auto *const bad : {"", "2026-11-16T17:05:00.123Z", "2026-11-16T17-05-60.123Z", "2026-02-30T17-05-00.123Z",
                                "9999-11-16T17-05-00.123Z", "0000-00-00T00-00-00.000Z", "2026-11-16T17-05-00.123Zx",
                                "2026-11-16T-1-05-00.123Z", "2026-11-16 17-05-00.123Z"}) {
    EXPECT_FALSE(parse_stamp(bad)) << bad;
  }
}

}  // namespace
}  // namespace gpulse::sink

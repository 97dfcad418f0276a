// SPDX-License-Identifier: Apache-2.0
// What goes wrong around a writer: it never makes anybody wait, loses what it must and says so, and goes on by itself.
#include "history/writer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "base/temporary_folder.hpp"
#include "history/disk_faults.hpp"
#include "history/reader.hpp"
#include "history/testing.hpp"
#include "history/times.hpp"

namespace gpulse::history {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using testing::at;
using testing::DiskFaults;
using ::testing::HasSubstr;

// Twenty samples wait at most, and the next try is soon.
constexpr WriterPace kPace{
    .most_waiting = 20, .often = 0ms, .first_pause = 5ms, .longest_pause = 20ms, .longest_end = 300ms};
constexpr Keep kKeep{.free_bytes = 0};

Snapshot sample(int second) {
  Snapshot now;
  now.time = at(second);
  now.devices.push_back(testing::make_device(0));
  now.devices.back().row[device_metric("gpu_utilization_percent")] = second % 100;
  return now;
}

class WriterTest : public ::testing::Test {
 protected:
  std::string path() const { return folder.path("/history.db"); }
  void start(const Keep &keep = kKeep) { writer = std::make_unique<Writer>(path(), keep, kPace); }
  // A slow disk costs nothing.
  void start_patient(const Keep &keep = kKeep) {
    auto pace = kPace;
    pace.most_waiting = 1000;
    writer = std::make_unique<Writer>(path(), keep, pace);
  }
  void end() { writer.reset(); }

  // One sample a second from where the last call ended; none of them may wait.
  void add(int count) {
    for (int i = 0; i < count; ++i) {
      const auto begun = monotonic_now();
      writer->add(std::make_shared<const Snapshot>(sample(next_second++)), 1s);
      slowest = std::max(slowest, monotonic_now() - begun);
    }
  }
  void wait_until(const std::function<bool(const WriterStatus &)> &condition) const {
    const auto until = monotonic_now() + 20s;
    while (!condition(writer->status())) {
      ASSERT_LT(monotonic_now(), until) << writer->status().problem;
      std::this_thread::sleep_for(1ms);
    }
  }
  void wait_written() const {
    wait_until([](const auto &now) { return now.waiting == 0 && now.problem.empty(); });
  }
  void wait_problem(const std::string &words) const {
    wait_until([&](const auto &now) { return now.problem.find(words) != std::string::npos; });
  }
  // Seconds after the start that are in the file.
  std::vector<int> kept() const {
    std::vector<int> seconds;
    auto reader = Reader::open(path());
    EXPECT_TRUE(reader.has_value()) << reader.error().line();
    if (!reader) return seconds;
    const auto samples = reader->samples({WallTime{}, WallTime::max()});
    EXPECT_TRUE(samples.has_value());
    for (const auto &each : *samples) {
      if (each.tier == Tier::raw) seconds.push_back(static_cast<int>(begin_of(each.time, Tier::raw) - testing::kStart));
    }
    return seconds;
  }
  std::vector<LostSpan> lost() const {
    auto reader = Reader::open(path());
    return reader->lost({WallTime{}, WallTime::max()}).value();
  }

  TemporaryFolder folder;
  std::unique_ptr<Writer> writer;
  int next_second = 0;
  std::chrono::nanoseconds slowest{0};
};

std::vector<int> from_to(int first, int after_last) {
  std::vector<int> all;
  for (int i = first; i < after_last; ++i) all.push_back(i);
  return all;
}

std::string twice_or_missing(const std::vector<int> &seconds, int count) {
  std::string words;
  for (int second = 0; second < count; ++second) {
    const auto times = std::ranges::count(seconds, second);
    if (times != 1) words += fmt::format("{} {} times, ", second, times);
  }
  return words;
}

std::string bytes_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(WriterTest, AFullDiskCostsWhatExceedsTheQueueAndNothingElse) {
  const DiskFaults disk;
  start();
  add(10);
  wait_written();
  DiskFaults::fail(ENOSPC);
  add(1);
  wait_problem("the disk is full");
  add(49);
  EXPECT_EQ(writer->status().waiting, 20);
  EXPECT_EQ(writer->status().lost, 30);
  DiskFaults::mend();
  wait_written();
  add(5);
  wait_written();
  EXPECT_LT(slowest, 500ms);
  auto expected = from_to(0, 10);
  std::ranges::copy(from_to(40, 65), std::back_inserter(expected));
  EXPECT_EQ(kept(), expected);
  ASSERT_EQ(lost().size(), 1);
  EXPECT_EQ(lost()[0].samples, 30);
  EXPECT_EQ(lost()[0].span.from, at(10));
  EXPECT_THAT(lost()[0].reason.str(), HasSubstr("the disk is full"));
}

TEST_F(WriterTest, ADiskThatIsFullInTheMiddleOfAnythingWritesNothingTwice) {
  const DiskFaults disk;
  // So small that the journal is written back every few samples.
  start({.bytes = std::uint64_t{2} << 20U, .free_bytes = 0});
  // As many as a soak asks for.
  const char *wanted = std::getenv("GPULSE_HISTORY_FAULTS");
  const int rounds = wanted == nullptr ? 18 : std::atoi(wanted);
  for (int i = 0; i < rounds; ++i) {
    add(4);
    if (i % 3 == 0) DiskFaults::fail(i % 2 == 0 ? ENOSPC : EIO);
    add(2);
    std::this_thread::sleep_for(1ms);
    DiskFaults::mend();
    wait_written();
  }
  EXPECT_EQ(twice_or_missing(kept(), next_second), "");
}

// They are in the journal, and stay there.
TEST_F(WriterTest, WhatCannotBeWrittenBackIsNotWrittenAgain) {
  const DiskFaults disk;
  start_patient({.bytes = std::uint64_t{2} << 20U, .free_bytes = 0});
  add(1);
  wait_written();
  DiskFaults::fail_file(ENOSPC);
  const auto until = monotonic_now() + 20s;
  while (writer->status().problem.empty() && monotonic_now() < until) {
    add(1);
    std::this_thread::sleep_for(1ms);
  }
  // SQLite has two words for it, by what it was about to do.
  EXPECT_THAT(writer->status().problem, AnyOf(HasSubstr("the disk is full"), HasSubstr("disk I/O error")));
  DiskFaults::mend();
  add(1);
  wait_written();
  EXPECT_EQ(kept(), from_to(0, next_second));
}

TEST_F(WriterTest, ADiskThatHangsMakesNobodyWait) {
  const DiskFaults disk;
  start();
  add(5);
  wait_written();
  DiskFaults::hang();
  add(1);
  wait_until([](const auto &) { return DiskFaults::waiting() > 0; });
  add(59);
  EXPECT_LT(slowest, 500ms);
  EXPECT_GE(writer->status().lost, 39);
  const auto begun = monotonic_now();
  end();
  EXPECT_LT(monotonic_now() - begun, 2s) << "the end waited for the disk";
  // The thread that was left behind ends as soon as the disk lets it.
  DiskFaults::mend();
  const auto until = monotonic_now() + 20s;
  while (kept().back() != 64 && monotonic_now() < until) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(kept().back(), 64);
}

TEST_F(WriterTest, WhatIsOnItsWayToTheDiskIsNotCountedAsLost) {
  const DiskFaults disk;
  start();
  add(1);
  wait_written();
  DiskFaults::hang();
  add(10);
  wait_until([](const auto &) { return DiskFaults::waiting() > 0; });
  add(40);
  const auto lost_count = writer->status().lost;
  DiskFaults::mend();
  wait_written();
  EXPECT_EQ(kept().size() + lost_count, 51);
  ASSERT_EQ(lost().size(), 1);
  EXPECT_EQ(lost()[0].samples, lost_count);
  for (const auto second : kept()) {
    EXPECT_TRUE(at(second) < lost()[0].span.from || at(second) >= lost()[0].span.to) << second << " was not lost";
  }
}

TEST_F(WriterTest, AReaderThatDoesNotEndKeepsTheJournalBounded) {
  // A quarter of what the history may take.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20U;
  start({.bytes = 4 * kMost, .free_bytes = 0});
  add(1);
  wait_written();
  auto reader = Database::open(path(), Database::Mode::read);
  ASSERT_TRUE(reader.has_value());
  ASSERT_TRUE(reader->run("BEGIN; SELECT count(*) FROM raw_tail").has_value());
  const auto journal = [&] { return std::filesystem::file_size(path() + "-wal"); };
  const auto until = monotonic_now() + 20s;
  while (writer->status().problem.empty() && monotonic_now() < until) {
    add(1);
    std::this_thread::sleep_for(100us);
  }
  EXPECT_THAT(writer->status().problem, HasSubstr("does not end its reading"));
  add(100);
  EXPECT_GT(writer->status().lost, 0);
  EXPECT_LT(journal(), kMost + (512U << 10U));
  ASSERT_TRUE(reader->run("COMMIT").has_value());
  wait_written();
  add(1);
  wait_written();
  EXPECT_EQ(kept().back(), next_second - 1);
  EXPECT_LT(journal(), kMost);
}

TEST_F(WriterTest, AFileThatIsRemovedBeginsAnew) {
  start();
  add(10);
  wait_written();
  std::filesystem::remove(path());
  add(5);
  wait_written();
  EXPECT_EQ(kept(), from_to(10, 15));
}

TEST_F(WriterTest, AFileThatIsReplacedIsGoneOnWithAndNotSpoiledByTheOtherOnesJournal) {
  const auto other = folder.path("/other.db");
  {
    Writer made(other, kKeep, kPace);
    for (int i = 0; i < 3; ++i) made.add(std::make_shared<const Snapshot>(sample(i)), 1s);
  }
  next_second = 100;
  start();
  add(150);
  wait_until([](const auto &now) { return now.waiting == 0; });
  std::filesystem::rename(other, path());
  next_second = 1000;
  add(5);
  wait_written();
  end();
  auto expected = from_to(0, 3);
  std::ranges::copy(from_to(1000, 1005), std::back_inserter(expected));
  EXPECT_EQ(kept(), expected);
  auto database = Database::open(path(), Database::Mode::read);
  EXPECT_EQ(database->text("PRAGMA integrity_check"), "ok");
}

TEST_F(WriterTest, AFolderThatComesLaterIsWaitedFor) {
  std::ofstream(folder.path("/in_the_way")) << "a file";
  writer = std::make_unique<Writer>(folder.path("/in_the_way/history.db"), kKeep, kPace);
  add(3);
  wait_problem("cannot be written");
  std::filesystem::remove(folder.path("/in_the_way"));
  wait_written();
  EXPECT_EQ(writer->status().samples, 3);
}

TEST_F(WriterTest, WhatIsNotOursIsRefusedAndNotTouched) {
  struct Case {
    const char *name;
    const char *words;
    std::function<void(const std::string &)> make;
  };
  const auto sql = [](const char *text) {
    return [text](const std::string &path) { ASSERT_TRUE(Database::open(path, Database::Mode::write)->run(text)); };
  };
  const Case cases[] = {
      {"newer", "later version", sql("PRAGMA application_id=1735414577; PRAGMA user_version=99; CREATE TABLE t(x)")},
      {"foreign", "another program", sql("CREATE TABLE bookmarks(url); INSERT INTO bookmarks VALUES('x')")},
      {"text", "is no history", [](const auto &path) { std::ofstream(path) << std::string(5000, 'x'); }},
      {"folder", "is no file", [](const auto &path) { std::filesystem::create_directory(path); }},
      {"pipe", "is no file", [](const auto &path) { ::mkfifo(path.c_str(), 0600); }},
  };
  for (const auto &each : cases) {
    const auto file = folder.path(std::string("/") + each.name);
    each.make(file);
    const auto before = std::filesystem::is_regular_file(file) ? bytes_of(file) : "";
    writer = std::make_unique<Writer>(file, kKeep, kPace);
    add(2);
    wait_problem(each.words);
    end();
    if (std::filesystem::is_regular_file(file)) {
      EXPECT_TRUE(bytes_of(file) == before) << each.name;
    }
    for (const auto *beside : {"-wal", "-shm", ".damaged"}) {
      EXPECT_FALSE(std::filesystem::exists(file + beside)) << beside;
    }
  }
}

// What its program has not finished yet is for that program to finish.
TEST_F(WriterTest, AnotherProgramsJournalIsLeftToIt) {
  auto other = Database::open(path(), Database::Mode::write);
  ASSERT_TRUE(other->run("PRAGMA journal_mode=WAL; CREATE TABLE bookmarks(url)").has_value());
  for (const auto *end : {"", "-wal", "-shm"}) {
    std::filesystem::copy_file(path() + end, folder.path(std::string("/left.db") + end));
  }
  const auto left = folder.path("/left.db");
  const auto file = bytes_of(left), journal = bytes_of(left + "-wal");
  ASSERT_FALSE(journal.empty());
  writer = std::make_unique<Writer>(left, kKeep, kPace);
  add(2);
  wait_problem("another program");
  end();
  EXPECT_TRUE(bytes_of(left) == file);
  EXPECT_TRUE(bytes_of(left + "-wal") == journal);
}

TEST_F(WriterTest, ARefusedFileCostsNoProcessorAndIsTriedAgain) {
  std::ofstream(path()) << std::string(5000, 'x');
  start();
  add(2);
  wait_problem("is no history");
  timespec before{}, after{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  std::this_thread::sleep_for(300ms);
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  const auto used = Seconds(static_cast<double>(after.tv_sec - before.tv_sec) +
                            static_cast<double>(after.tv_nsec - before.tv_nsec) * 1e-9);
  EXPECT_LT(used.count(), 0.15);
  std::filesystem::remove(path());
  wait_written();
  EXPECT_EQ(kept(), from_to(0, 2));
}

TEST_F(WriterTest, ADamagedFileIsKeptAsideAndANewOneBegins) {
  start();
  add(130);
  wait_until([](const auto &now) { return now.waiting == 0; });
  end();
  const auto good = bytes_of(path());
  // The first page is gone, and the file is cut: each is a history that cannot be read any more.
  for (const auto &damaged : {std::string(4096, 'x') + good.substr(4096), good.substr(0, good.size() / 2),
                              good.substr(0, 50), std::string(8192, '\0')}) {
    for (const auto *beside : {"-wal", "-shm", ".damaged", ".damaged-wal"}) std::filesystem::remove(path() + beside);
    std::ofstream(path(), std::ios::binary) << damaged;
    next_second = 500;
    start();
    add(10);
    wait_written();
    EXPECT_EQ(kept(), from_to(500, 510));
    end();
    EXPECT_TRUE(bytes_of(path() + ".damaged").substr(0, 50) == damaged.substr(0, 50));
  }
}

TEST_F(WriterTest, TellsHowItIsFromAnyThread) {
  start_patient();
  std::atomic<bool> done = false;
  std::uint64_t looks = 0;
  std::thread other([&] {
    while (!done || looks == 0) looks += writer->status().samples > 0 ? 1U : 0U;
  });
  for (int i = 0; i < 200; ++i) {
    add(1);
    if (i % 20 == 0) writer->set_keep({.raw = std::chrono::hours(1 + i), .free_bytes = 0});
    std::this_thread::sleep_for(100us);
  }
  wait_written();
  done = true;
  other.join();
  EXPECT_GT(looks, 0);
  end();
  EXPECT_EQ(twice_or_missing(kept(), next_second), "");
}

}  // namespace
}  // namespace gpulse::history

// SPDX-License-Identifier: Apache-2.0
#include "record/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <csignal>
#include <filesystem>

#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"
#include "codec/testing.hpp"

namespace gpulse::record {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// $TMPDIR is a folder of the test's own.
class JournalTest : public ::testing::Test {
 protected:
  JournalTest() { ::setenv("TMPDIR", folder.path().c_str(), 1); }
  ~JournalTest() override { ::unsetenv("TMPDIR"); }

  // What this process has open under the folder, or in memory: the journal's file, and what it is called.
  struct File {
    std::string name;
    struct stat facts{};
  };
  std::optional<File> file() const {
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      const auto name = std::filesystem::read_symlink(entry.path(), error).string();
      File found{.name = name};
      const bool ours = name.starts_with(folder.path()) || name.starts_with("/memfd:gpulse");
      if (ours && ::stat(entry.path().c_str(), &found.facts) == 0) return found;
    }
    return std::nullopt;
  }
  bool folder_is_empty() const { return std::filesystem::is_empty(folder.path()); }

  TemporaryFolder folder;
};

// Adds samples and keeps them, to compare with what comes back.
struct Seen {
  explicit Seen(std::uint32_t seed) : machine(seed) {}

  bool add(Journal &journal, std::size_t count = 1) {
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(machine.next());
      if (!journal.append(all.back())) return false;
    }
    return true;
  }
  // The first sample that is not as it was.
  std::optional<std::uint64_t> wrong(Journal &journal) const {
    for (auto number = journal.first(); number < journal.end(); ++number) {
      if (!is_right(journal, number)) return number;
    }
    return std::nullopt;
  }
  bool is_right(Journal &journal, std::uint64_t number) const {
    const auto got = journal.at(number);
    const auto &sample = all[static_cast<std::size_t>(number)];
    return got && codec::testing::same(**got, sample) && journal.time(number) == sample.time;
  }

  codec::testing::RandomMachine machine;
  std::vector<Snapshot> all;
};

TEST_F(JournalTest, WhatWasSeenComesBackBitByBit) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    auto journal = Journal::open();
    ASSERT_TRUE(journal) << journal.error().line();
    Seen seen(seed);
    ASSERT_TRUE(seen.add(*journal, 130));
    EXPECT_EQ(journal->first(), 0U);
    EXPECT_EQ(journal->end(), 130U);
    EXPECT_EQ(seen.wrong(*journal), std::nullopt);
    for (std::uint64_t number = 130; number-- > 0;) ASSERT_TRUE(seen.is_right(*journal, number)) << number;
    for (const std::uint64_t number : {129U, 0U, 31U, 29U, 30U, 30U, 61U, 128U}) {
      EXPECT_TRUE(seen.is_right(*journal, number)) << number;
    }
    EXPECT_FALSE(journal->at(130));
  }
}

TEST_F(JournalTest, ReadingDoesNotDisturbWriting) {
  auto journal = Journal::open();
  ASSERT_TRUE(journal);
  Seen seen(11);
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(seen.add(*journal));
    ASSERT_TRUE(seen.is_right(*journal, i));
    ASSERT_TRUE(seen.is_right(*journal, i * 7919 % (i + 1)));
  }
}

TEST_F(JournalTest, ItMovesWithWhatItHolds) {
  auto journal = Journal::open();
  ASSERT_TRUE(journal);
  Seen seen(12);
  ASSERT_TRUE(seen.add(*journal, 40));
  auto moved = std::move(*journal);
  ASSERT_TRUE(seen.add(moved, 40));
  EXPECT_EQ(seen.wrong(moved), std::nullopt);
}

TEST_F(JournalTest, AnEmptyOneHasNothing) {
  auto journal = Journal::open();
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->first(), journal->end());
  EXPECT_EQ(journal->bytes(), 0U);
  EXPECT_FALSE(journal->at(0));
  EXPECT_EQ(journal->find(WallTime(1s)), 0U);
}

TEST_F(JournalTest, FindsByTime) {
  auto journal = Journal::open();
  ASSERT_TRUE(journal);
  Snapshot snapshot;
  for (const auto second : {10s, 20s, 20s, 30s}) {
    snapshot.time = WallTime(second);
    ASSERT_TRUE(journal->append(snapshot));
  }
  EXPECT_EQ(journal->find(WallTime(1s)), 0U);
  EXPECT_EQ(journal->find(WallTime(10s)), 0U);
  EXPECT_EQ(journal->find(WallTime(19s)), 0U);
  EXPECT_EQ(journal->find(WallTime(20s)), 2U);
  EXPECT_EQ(journal->find(WallTime(99s)), 3U);
  // The clock is set back.
  snapshot.time = WallTime(15s);
  ASSERT_TRUE(journal->append(snapshot));
  EXPECT_EQ(journal->find(WallTime(99s)), 4U);
  EXPECT_EQ(journal->find(WallTime(16s)), 4U) << "the latest that is not after it";
  EXPECT_EQ(journal->find(WallTime(12s)), 0U);
}

TEST_F(JournalTest, TheFileHasNoName) {
  const auto journal = Journal::open();
  ASSERT_TRUE(journal);
  ASSERT_TRUE(file());
  EXPECT_THAT(file()->name, HasSubstr("(deleted)"));
  EXPECT_TRUE(folder_is_empty());
  EXPECT_EQ(file()->facts.st_mode & 0777U, 0600U) << "for nobody else";
}

TEST_F(JournalTest, BeyondTheLimitTheOldestGo) {
  constexpr std::uint64_t kLimit = 200'000;
  auto journal = Journal::open(kLimit);
  ASSERT_TRUE(journal);
  Seen seen(13);
  std::uint64_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(seen.add(*journal));
    most = std::max(most, journal->bytes());
  }
  EXPECT_EQ(journal->end(), 3000U);
  EXPECT_GT(journal->first(), 1000U) << "or this test shows nothing";
  EXPECT_EQ(journal->first() % 30, 0U) << "only with their key";
  EXPECT_LT(most, kLimit + 20'000) << "beyond it by one sample at most";
  EXPECT_GT(journal->bytes(), kLimit / 2);
  EXPECT_EQ(seen.wrong(*journal), std::nullopt);
  EXPECT_FALSE(journal->at(journal->first() - 1));
  EXPECT_EQ(journal->find(seen.all[0].time), journal->first());
  // What is gone takes no room; the file system's blocks may be larger than ours.
  ASSERT_TRUE(file());
  EXPECT_LT(static_cast<std::uint64_t>(file()->facts.st_blocks) * 512, kLimit + 100'000);
  EXPECT_GT(static_cast<std::uint64_t>(file()->facts.st_size), 4 * kLimit);
}

TEST_F(JournalTest, OneGroupBeyondTheLimitStays) {
  auto journal = Journal::open(1);
  ASSERT_TRUE(journal);
  Seen seen(14);
  ASSERT_TRUE(seen.add(*journal, 100));
  EXPECT_EQ(journal->first(), 90U);
  EXPECT_EQ(seen.wrong(*journal), std::nullopt);
}

TEST_F(JournalTest, GoesOnAfterAFullDisk) {
  auto journal = Journal::open();
  ASSERT_TRUE(journal);
  Seen seen(15);
  ASSERT_TRUE(seen.add(*journal, 45));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto signal = std::signal(SIGXFSZ, SIG_IGN);
  auto tight = before;
  tight.rlim_cur = journal->bytes() + 3;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  for (int i = 0; i < 3; ++i) {
    const auto refused = journal->append(Seen(99).machine.next());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().line(), "cannot keep what was seen: File too large");
  }
  EXPECT_EQ(seen.wrong(*journal), std::nullopt) << "what there was can be read";
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  static_cast<void>(std::signal(SIGXFSZ, signal));
  ASSERT_TRUE(seen.add(*journal, 45));
  EXPECT_EQ(journal->end(), 90U);
  EXPECT_EQ(seen.wrong(*journal), std::nullopt);
}

TEST_F(JournalTest, GoesOnAfterASampleThatCannotBeKept) {
  auto journal = Journal::open();
  ASSERT_TRUE(journal);
  Seen seen(16);
  ASSERT_TRUE(seen.add(*journal, 5));
  Snapshot monster;
  monster.hostname = std::string(codec::kLongestText + 1, 'x');
  EXPECT_FALSE(journal->append(monster));
  EXPECT_EQ(journal->end(), 5U);
  ASSERT_TRUE(seen.add(*journal, 5));
  EXPECT_EQ(seen.wrong(*journal), std::nullopt);
}

// In a process to which the kernel refuses a call: what went wrong, "skip", or nothing.
template <class Refuse, class Work>
void expect_well_without(Refuse refuse, Work work) {
  const auto outcome = in_child([&]() -> std::string { return refuse() ? work() : "skip"; });
  if (outcome == "skip") GTEST_SKIP() << "no filter for calls here";
  EXPECT_EQ(outcome, "");
}

std::string keep_some(std::uint64_t limit = Journal::kLimit, std::size_t count = 100) {
  auto journal = Journal::open(limit);
  if (!journal) return journal.error().line();
  Seen seen(17);
  if (!seen.add(*journal, count)) return "not written";
  if (journal->end() != count || journal->first() == journal->end()) return "not there";
  if (journal->bytes() > limit + 20'000) return "too much";
  return seen.wrong(*journal) ? "not as it was" : "";
}

TEST_F(JournalTest, AFileSystemThatKnowsOnlyNames) {
  static constexpr CallBits kUnnamed{.argument = 2, .bits = O_TMPFILE & ~O_DIRECTORY};
  expect_well_without([] { return refuse_call(SYS_openat, EOPNOTSUPP, kUnnamed); },
                      [&]() -> std::string {
                        const auto journal = Journal::open();
                        if (!journal || !file() || !file()->name.contains("/gpulse-")) return "another file";
                        return folder_is_empty() ? keep_some() : "its name is still there";
                      });
}

TEST_F(JournalTest, InMemoryWhereNothingCanBeWritten) {
  const auto nothing = [] { return refuse_call(SYS_openat, EROFS, {.argument = 2, .bits = O_RDWR}); };
  expect_well_without(nothing, [&]() -> std::string {
    const auto journal = Journal::open();
    return journal && file() && file()->name.starts_with("/memfd:gpulse") ? keep_some(100'000, 2000) : "another file";
  });
}

TEST_F(JournalTest, AnotherFolderWhereTheWantedOneIsNotThere) {
  ::setenv("TMPDIR", folder.path("/nowhere").c_str(), 1);
  EXPECT_EQ(keep_some(), "");
  ::setenv("TMPDIR", "", 1);
  EXPECT_EQ(keep_some(), "");
}

TEST_F(JournalTest, BeginsAnewWhereNoPartOfAFileCanBeGivenBack) {
  expect_well_without([] { return refuse_call(SYS_fallocate, EOPNOTSUPP); },
                      [&]() -> std::string {
                        if (auto kept = keep_some(100'000, 2000); !kept.empty()) return kept;
                        auto journal = Journal::open(100'000);
                        Seen seen(18);
                        if (!journal || !seen.add(*journal, 2000)) return "not written";
                        if (journal->first() < 500) return "nothing was dropped";
                        return file()->facts.st_size < 150'000 ? "" : "the file grew";
                      });
}

}  // namespace
}  // namespace gpulse::record

// SPDX-License-Identifier: Apache-2.0
#include "pick/lease.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"
#include "pick/testing.hpp"

namespace gpulse::pick {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LeaseTest : public testing::Test {
 protected:
  LeaseFolder open() {
    auto folder = LeaseFolder::open({place(), false});
    EXPECT_TRUE(folder) << folder.error().line();
    return std::move(*folder);
  }
  std::string place() const { return folder_.path("/leases"); }

  // None: somebody else has it.
  std::optional<Lease> take(const LeaseKey &key) {
    auto taken = open().take(std::vector{key}, 1);
    EXPECT_TRUE(taken);
    if (taken->leases.empty()) {
      holder_ = taken->missed.front().holder;
      return std::nullopt;
    }
    std::optional<Lease> lease(std::move(taken->leases.front()));
    return lease;
  }
  bool is_free(const LeaseKey &key) { return take(key).has_value(); }

  TemporaryFolder folder_;
  std::string holder_;
};

TEST_F(LeaseTest, OneAtATimeAndAgainWhenItIsReleased) {
  auto lease = take({"GPU-1"});
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->uuid(), "GPU-1");
  EXPECT_FALSE(is_free({"GPU-1"}));
  EXPECT_THAT(holder_, HasSubstr(fmt::format("held by pid {} of ", ::getpid())));
  EXPECT_TRUE(is_free({"GPU-2"}));
  lease->release();
  EXPECT_TRUE(is_free({"GPU-1"}));
}

TEST_F(LeaseTest, AssigningAnotherLetsGoOfTheFirst) {
  auto lease = take({"GPU-1"});
  *lease = std::move(*take({"GPU-2"}));
  EXPECT_TRUE(is_free({"GPU-1"}));
  EXPECT_FALSE(is_free({"GPU-2"}));
}

TEST_F(LeaseTest, InstancesGoTogetherButNotWithTheWhole) {
  const LeaseKey whole{"GPU-1"}, one{"MIG-a", "GPU-1"}, other{"MIG-b", "GPU-1"};
  auto first = take(one);
  auto second = take(other);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(is_free(one));
  EXPECT_FALSE(is_free(whole));
  first->release();
  EXPECT_FALSE(is_free(whole));
  second->release();
  const auto all = take(whole);
  ASSERT_TRUE(all);
  EXPECT_FALSE(is_free(one));
}

TEST_F(LeaseTest, SeveralOrNone) {
  const std::vector<LeaseKey> keys{{"GPU-1"}, {"GPU-2"}, {"GPU-3"}};
  const auto held = take({"GPU-1"});
  const auto folder = open();
  const auto two = folder.take(keys, 2);
  ASSERT_TRUE(two);
  ASSERT_THAT(two->leases, SizeIs(2));
  EXPECT_EQ(two->leases[0].uuid(), "GPU-2");
  ASSERT_THAT(two->missed, SizeIs(1));
  EXPECT_EQ(two->missed[0].key, 0U);
  const auto three = folder.take(keys, 3);
  EXPECT_THAT(three->leases, IsEmpty());
  EXPECT_THAT(three->missed, SizeIs(3));
}

TEST_F(LeaseTest, WithFewerThanAskedForNoneIsKept) {
  const auto held = take({"GPU-1"});
  EXPECT_THAT(open().take(std::vector<LeaseKey>{{"GPU-1"}, {"GPU-2"}}, 2)->leases, IsEmpty());
  EXPECT_TRUE(is_free({"GPU-2"}));
}

TEST_F(LeaseTest, TheKernelEndsItWithItsHolder) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto pid = ::fork();
  if (pid == 0) {
    const auto lease = take({"GPU-1"});
    [[maybe_unused]] const auto told = ::write(ends[1], lease ? "y" : "n", 1);
    for (;;) ::pause();
  }
  Child child(pid);
  char answer = 0;
  ASSERT_EQ(::read(ends[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(is_free({"GPU-1"}));
  EXPECT_THAT(holder_, HasSubstr(std::to_string(pid)));
  ::kill(pid, SIGKILL);
  child.wait();
  EXPECT_TRUE(is_free({"GPU-1"}));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(LeaseTest, AForkedChildThatEndsTakesNothingAway) {
  auto lease = take({"GPU-1"});
  EXPECT_EQ(in_child([&] {
              lease.reset();
              return "done";
            }),
            "done");
  EXPECT_FALSE(is_free({"GPU-1"}));
}

// Takes one, forks a child that lives on, and ends: what is left is the child, which this process is given.
class Orphan {
 public:
  explicit Orphan(const std::function<std::optional<Lease>()> &take) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return;
    const UniqueFd from(ends[0]);
    UniqueFd to(ends[1]);
    Child parent(::fork());
    if (parent.id() == 0) {
      const auto lease = take();
      if (!lease || ::fork() != 0) ::_exit(0);
      // Told by itself: by now it has closed what is not its own.
      const auto self = ::getpid();
      [[maybe_unused]] const auto told = ::write(to.get(), &self, sizeof self);
      for (;;) ::pause();
    }
    to = UniqueFd();
    pid_t pid = -1;
    [[maybe_unused]] const auto got = ::read(from.get(), &pid, sizeof pid);
    parent.wait();
    child_.emplace(pid);
  }

  bool runs() const { return child_ && child_->id() > 0 && child_->runs(); }

 private:
  std::optional<Child> child_;
};

TEST_F(LeaseTest, AForkedChildHasNoPartInIt) {
  const Orphan orphan([&] { return take({"GPU-1"}); });
  ASSERT_TRUE(orphan.runs());
  EXPECT_TRUE(is_free({"GPU-1"}));
}

TEST_F(LeaseTest, UnlessItIsPassedOn) {
  const Orphan orphan([&] {
    auto lease = take({"MIG-a", "GPU-1"});
    if (!lease->pass_on()) lease.reset();
    return lease;
  });
  ASSERT_TRUE(orphan.runs());
  EXPECT_FALSE(is_free({"MIG-a", "GPU-1"}));
  EXPECT_FALSE(is_free({"GPU-1"}));
}

// By then the child may have another file of that number.
TEST_F(LeaseTest, AForkedChildThatLetsGoClosesNothingElse) {
  auto lease = take({"GPU-1"});
  EXPECT_EQ(in_child([&] {
              const UniqueFd other(::open("/dev/null", O_RDONLY));
              lease.reset();
              return ::fcntl(other.get(), F_GETFD) >= 0 ? "open" : "closed";
            }),
            "open");
}

// Each with a lease of its own, while another thread takes and releases some.
TEST_F(LeaseTest, ForksAtAnyMomentKeepNothing) {
  const auto folder = open();
  std::atomic<bool> done{false};
  std::jthread taker([&] {
    while (!done) EXPECT_TRUE(folder.take(std::vector<LeaseKey>{{"GPU-1"}, {"GPU-2"}}, 2));
  });
  for (int i = 0; i < 100; ++i) {
    const auto left = in_child([&] {
      int count = 0;
      for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code none;
        if (std::filesystem::read_symlink(entry.path(), none).string().starts_with(place() + "/GPU-")) ++count;
      }
      return std::to_string(count);
    });
    EXPECT_EQ(left, "0");
  }
  done = true;
}

TEST_F(LeaseTest, ReleasedItIsFreeThoughAForkedChildLives) {
  auto lease = take({"GPU-1"});
  const Child child;
  lease->release();
  EXPECT_TRUE(is_free({"GPU-1"}));
}

TEST_F(LeaseTest, ProgramsHaveItOnlyIfItIsPassedOn) {
  auto lease = take({"GPU-1"});
  const auto open_in_programs = [&] { return (::fcntl(lease->descriptors().back(), F_GETFD) & FD_CLOEXEC) == 0; };
  EXPECT_FALSE(open_in_programs());
  ASSERT_TRUE(lease->pass_on());
  EXPECT_TRUE(open_in_programs());
  const Child child;
  lease.reset();
  EXPECT_FALSE(is_free({"GPU-1"}));
}

TEST_F(LeaseTest, EveryUserMayUseTheFolderAndItsFiles) {
  const auto mask = ::umask(0077);
  EXPECT_TRUE(is_free({"GPU-1"}));
  ::umask(mask);
  struct stat status{};
  ASSERT_EQ(::stat(place().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 01777U);
  ASSERT_EQ(::stat((place() + "/GPU-1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666U);
  // Nothing else is left behind.
  for (const auto &entry : std::filesystem::directory_iterator(place())) {
    const auto name = entry.path().filename();
    EXPECT_TRUE(name == "GPU-1" || name == ".turn") << name;
  }
}

TEST_F(LeaseTest, AFileThatMayOnlyBeReadCanBeLocked) {
  ASSERT_TRUE(is_free({"GPU-1"}));
  ::chmod((place() + "/GPU-1").c_str(), 0444);
  const auto lease = take({"GPU-1"});
  EXPECT_TRUE(lease);
  EXPECT_FALSE(is_free({"GPU-1"}));
}

TEST_F(LeaseTest, ALinkInPlaceOfAFileIsNotFollowed) {
  folder_.write("/victim", "precious");
  open();
  folder_.link("/leases/GPU-1", folder_.path("/victim"));
  EXPECT_FALSE(is_free({"GPU-1"}));
  EXPECT_THAT(holder_, HasSubstr("cannot open"));
  EXPECT_EQ(std::filesystem::file_size(folder_.path("/victim")), 8U);
  EXPECT_TRUE(is_free({"GPU-2"}));
}

TEST_F(LeaseTest, NorIsALinkInPlaceOfTheFolder) {
  folder_.make_folder("/elsewhere");
  folder_.link("/leases", folder_.path("/elsewhere"));
  const auto refused = LeaseFolder::open({place(), false});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().line(), HasSubstr("not a folder"));
  // Where the user has named it, it is the user's affair.
  EXPECT_TRUE(LeaseFolder::open({place(), true}));
}

TEST_F(LeaseTest, AFifoInPlaceOfAFileHoldsNobodyUp) {
  open();
  ASSERT_EQ(::mkfifo((place() + "/GPU-1").c_str(), 0666), 0);
  EXPECT_FALSE(is_free({"GPU-1"}));
  EXPECT_THAT(holder_, HasSubstr("not a file"));
}

TEST_F(LeaseTest, WhatHasBeenReplacedIsLockedAnew) {
  const auto old = take({"GPU-1"});
  folder_.remove("/leases/GPU-1");
  const auto now = take({"GPU-1"});
  EXPECT_TRUE(now);
  EXPECT_FALSE(is_free({"GPU-1"}));
}

TEST_F(LeaseTest, WhatIsWrittenInAFileIsNotBelieved) {
  const auto lease = take({"GPU-1"});
  folder_.write("/leases/GPU-1", "\x1b[2J; rm -rf");
  EXPECT_FALSE(is_free({"GPU-1"}));
  EXPECT_EQ(holder_, "held by another process");
  folder_.write("/leases/GPU-1", "1 4294967294 " + std::string(100'000, 'x'));
  EXPECT_FALSE(is_free({"GPU-1"}));
  EXPECT_EQ(holder_, "held by pid 1 of user 4294967294");
}

TEST_F(LeaseTest, SomebodyWhoStandsStillDoesNotStopEverybody) {
  open();
  ASSERT_TRUE(is_free({"GPU-2"}));
  const UniqueFd turn(::open((place() + "/.turn").c_str(), O_RDONLY));
  ASSERT_EQ(::flock(turn.get(), LOCK_EX), 0);
  EXPECT_TRUE(is_free({"GPU-1"}));
}

// What cleans /tmp tries to lock a folder before it looks into it.
TEST_F(LeaseTest, TheFolderIsLockedAgainstBeingCleanedUp) {
  const auto lease = take({"GPU-1"});
  const UniqueFd cleaner(::open(place().c_str(), O_RDONLY | O_DIRECTORY));
  EXPECT_NE(::flock(cleaner.get(), LOCK_EX | LOCK_NB), 0);
}

TEST(LeaseFileName, StaysInItsFolder) {
  EXPECT_EQ(lease_file_name("GPU-8932f937"), "GPU-8932f937");
  EXPECT_EQ(lease_file_name("../../etc/passwd"), "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd");
  EXPECT_EQ(lease_file_name(".turn"), "%2Eturn");
  EXPECT_EQ(lease_file_name(""), "%");
  EXPECT_LE(lease_file_name(std::string(10'000, '/')).size(), 255U);
}

TEST(LeasePlace, IsTheNamedOneOrOneForEverybody) {
  EXPECT_EQ(lease_place(environment_of({{"GPULSE_LEASES", "/srv/leases"}})).folder, "/srv/leases");
  const auto usual = lease_place(environment_of({}));
  EXPECT_TRUE(usual.folder == "/run/lock/gpulse" || usual.folder == "/tmp/gpulse-leases");
  EXPECT_FALSE(usual.named);
}

}  // namespace
}  // namespace gpulse::pick

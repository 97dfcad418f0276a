// SPDX-License-Identifier: Apache-2.0
#include "base/process_handle.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <thread>

#include "base/child_process.hpp"
#include "base/process_stat.hpp"

namespace gpulse {
namespace {

using namespace std::chrono_literals;
using Variables = std::vector<std::string>;

std::string file(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::uint64_t start_of(pid_t pid) {
  const auto text = file(fmt::format("/proc/{}/stat", pid));
  const auto stat = parse_process_stat(text);
  return stat ? stat->start_ticks : 0;
}

template <class T>
std::string said(const Result<T> &result) {
  return result ? "done" : result.error().line();
}

std::string opened(std::uint32_t pid, std::optional<std::uint64_t> start = {}) {
  return said(ProcessHandle::open(pid, start));
}

// A nobody, for good.
bool give_up_root() {
  constexpr uid_t kNobody = 65534;
  return ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
}

// Another process under the number of one that is gone; null where the kernel does not let us choose.
std::unique_ptr<Child> take_again(pid_t pid) {
  clone_args wish{};
  wish.exit_signal = SIGCHLD;
  wish.set_tid = reinterpret_cast<std::uint64_t>(&pid);
  wish.set_tid_size = 1;
  const auto made = static_cast<pid_t>(::syscall(SYS_clone3, &wish, sizeof wish));
  if (made == 0) {
    for (;;) ::pause();
  }
  return made > 0 ? std::make_unique<Child>(made) : nullptr;
}

TEST(ProcessHandle, SignalsTheOneItHoldsAndNoOther) {
  Child held;
  const Child other;
  const auto handle = ProcessHandle::open(held.pid(), start_of(held.id()));
  ASSERT_TRUE(handle) << handle.error().line();
  EXPECT_EQ(handle->pid(), held.pid());
  EXPECT_EQ(handle->start_ticks(), start_of(held.id()));
  EXPECT_TRUE(handle->alive());
  EXPECT_EQ(said(handle->signal(0)), "done") << "asks only";
  EXPECT_TRUE(held.runs());
  EXPECT_EQ(said(handle->signal(SIGTERM)), "done");
  EXPECT_EQ(held.wait(), SIGTERM);
  EXPECT_TRUE(other.runs());
}

TEST(ProcessHandle, TakesWhoeverHasTheNumberWhereNoStartIsGiven) {
  const Child child;
  const auto handle = ProcessHandle::open(child.pid(), std::nullopt);
  ASSERT_TRUE(handle);
  EXPECT_EQ(handle->start_ticks(), start_of(child.id()));
}

TEST(ProcessHandle, ANumberThatBelongsToAnotherByNowIsRefused) {
  const Child child;
  const auto start = start_of(child.id());
  EXPECT_EQ(opened(child.pid(), start - 1), "it was replaced by another");
  EXPECT_EQ(opened(child.pid(), start + 1), "it was replaced by another");
  EXPECT_EQ(opened(child.pid(), start), "done");
}

TEST(ProcessHandle, SaysThatItIsGone) {
  Child child;
  const auto pid = child.pid();
  const auto handle = ProcessHandle::open(pid, std::nullopt);
  ASSERT_TRUE(handle);
  ASSERT_TRUE(handle->signal(SIGKILL));
  child.wait();
  EXPECT_FALSE(handle->alive());
  EXPECT_EQ(said(handle->signal(SIGTERM)), "it is gone");
  EXPECT_EQ(said(handle->renice(5)), "it is gone");
  EXPECT_EQ(said(handle->nice()), "it is gone");
  EXPECT_EQ(said(handle->environment()), "it is gone");
  EXPECT_EQ(opened(pid), "it is gone");
}

TEST(ProcessHandle, OneThatNobodyHasWaitedForIsGoneToo) {
  const Child child;
  const auto handle = ProcessHandle::open(child.pid(), std::nullopt);
  ASSERT_TRUE(handle);
  ASSERT_TRUE(handle->signal(SIGKILL));
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.id()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(handle->alive());
  EXPECT_EQ(said(handle->signal(0)), "it is gone");
  EXPECT_EQ(said(handle->environment()), "it is gone");
  EXPECT_EQ(opened(child.pid()), "it is gone");
}

TEST(ProcessHandle, NoSuchNumber) {
  EXPECT_EQ(opened(0), "it is gone");
  EXPECT_EQ(opened(std::numeric_limits<std::int32_t>::max()), "it is gone");
  EXPECT_EQ(opened(std::numeric_limits<std::uint32_t>::max()), "it is gone") << "-1 would be everybody";
}

TEST(ProcessHandle, WhatIsNoSignalIsRefused) {
  Child child;
  const auto handle = ProcessHandle::open(child.pid(), std::nullopt);
  ASSERT_TRUE(handle);
  for (const int number : {-1, -9, 65, 128, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    EXPECT_EQ(said(handle->signal(number)), fmt::format("there is no signal {}", number));
  }
  EXPECT_TRUE(child.runs());
  EXPECT_EQ(said(handle->signal(64)), "done") << "the last real-time signal";
  EXPECT_EQ(child.wait(), 64);
}

// What a child has at its start: the tests may run under nice(1) themselves.
int own_niceness() { return ::getpriority(PRIO_PROCESS, 0); }

// Both with the kernel's handle and by number and start alone.
void expect_safe_from_reuse(std::string_view what_it_says) {
  Child child;
  const auto pid = child.id();
  const auto handle = ProcessHandle::open(child.pid(), start_of(pid));
  ASSERT_TRUE(handle);
  ASSERT_TRUE(handle->signal(SIGKILL));
  child.wait();
  std::this_thread::sleep_for(30ms);  // the kernel gives starts in hundredths of a second
  const auto another = take_again(pid);
  if (!another) GTEST_SKIP() << "the kernel does not let us choose a pid";
  EXPECT_FALSE(handle->alive());
  EXPECT_EQ(said(handle->signal(SIGKILL)), what_it_says);
  EXPECT_EQ(said(handle->renice(7)), "it was replaced by another");
  EXPECT_EQ(said(handle->environment()), "it was replaced by another");
  EXPECT_TRUE(another->runs());
  EXPECT_EQ(ProcessHandle::open(another->pid(), std::nullopt)->nice(), own_niceness());
}

TEST(ProcessHandle, AReusedNumberIsNotHit) { expect_safe_from_reuse("it is gone"); }

TEST(ProcessHandle, WorksByNumberAndStartOnAnOldKernel) {
  const auto outcome = in_child([]() -> std::string {
    if (!refuse_call(SYS_pidfd_open, ENOSYS) || !refuse_call(SYS_pidfd_send_signal, ENOSYS)) return "skip";
    expect_safe_from_reuse("it was replaced by another");
    if (::testing::Test::HasFailure()) return "the reused number was hit";
    Child child;
    const auto handle = ProcessHandle::open(child.pid(), start_of(child.id()));
    if (!handle || !handle->alive()) return "not held";
    if (opened(child.pid(), 1) != "it was replaced by another") return "another was taken";
    if (!handle->signal(SIGTERM) || child.wait() != SIGTERM) return "not signalled";
    if (handle->alive()) return "alive after its end";
    return said(handle->signal(SIGTERM));
  });
  if (outcome == "skip") GTEST_SKIP() << "no filter for calls here";
  EXPECT_EQ(outcome, "it is gone");
}

TEST(ProcessHandle, ReadsTheEnvironmentItWasStartedWith) {
  std::array<std::string, 2> words{"/bin/sleep", "600"};
  std::array<char *, 3> arguments{words[0].data(), words[1].data(), nullptr};
  std::array<std::string, 4> given{"LANG=C", "RANK=3", "EMPTY=", "ODD=two words, a=b\n\x1B[1m"};
  std::array<char *, 5> environment{given[0].data(), given[1].data(), given[2].data(), given[3].data(), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(::posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments.data(), environment.data()), 0);
  const Child child(pid);
  // The program has not quite begun when the call returns.
  while (file(fmt::format("/proc/{}/cmdline", pid)).empty()) std::this_thread::sleep_for(1ms);
  const auto handle = ProcessHandle::open(child.pid(), std::nullopt);
  ASSERT_TRUE(handle);
  const auto read = handle->environment();
  ASSERT_TRUE(read) << read.error().line();
  EXPECT_EQ(*read, Variables(given.begin(), given.end()));
}

TEST(ProcessHandle, AKernelThreadHasNoEnvironment) {
  const auto handle = ProcessHandle::open(2, std::nullopt);
  if (::geteuid() != 0) GTEST_SKIP() << "only root may ask";
  if (!handle || file("/proc/2/comm") != "kthreadd\n") GTEST_SKIP() << "no kernel threads are seen here";
  const auto read = handle->environment();
  ASSERT_TRUE(read) << read.error().line();
  EXPECT_EQ(*read, Variables());
}

// Niceness of each thread, the first thread first.
std::vector<int> niceness(pid_t pid) {
  std::vector<int> all;
  std::vector<std::string> threads;
  for (const auto &entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    threads.push_back(entry.path().string());
  }
  for (const auto &thread : threads) all.push_back(parse_process_stat(file(thread + "/stat"))->nice);
  return all;
}

TEST(ProcessHandle, RenicesAllThreads) {
  const auto pid = ::fork();
  if (pid == 0) {
    const std::jthread other([] { ::pause(); });
    for (;;) ::pause();
  }
  const Child child(pid);
  while (niceness(pid).size() < 2) std::this_thread::sleep_for(1ms);
  const auto handle = ProcessHandle::open(child.pid(), std::nullopt);
  ASSERT_TRUE(handle);
  EXPECT_EQ(handle->nice(), own_niceness());
  const int later = std::min(own_niceness() + 7, 19);
  EXPECT_EQ(said(handle->renice(later)), "done");
  EXPECT_EQ(handle->nice(), later);
  EXPECT_EQ(niceness(pid), (std::vector{later, later}));
  EXPECT_EQ(said(handle->renice(20)), "20 is no niceness: it goes from -20, served first, to 19");
  EXPECT_EQ(said(handle->renice(-21)), "-21 is no niceness: it goes from -20, served first, to 19");
  EXPECT_EQ(handle->nice(), later);
}

TEST(ProcessHandle, SaysWhoseItIsWhereWeMayNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs a process of another user's";
  Child child;
  const auto lines = in_child([&]() -> std::string {
    if (!give_up_root()) return "still root";
    const auto handle = ProcessHandle::open(child.pid(), start_of(child.id()));
    if (!handle) return handle.error().line();
    return said(handle->signal(SIGTERM)) + "\n" + said(handle->renice(19)) + "\n" + said(handle->environment());
  });
  EXPECT_EQ(lines,
            "no permission: it belongs to root\n"
            "no permission: it belongs to root\n"
            "no permission: it belongs to root");
  EXPECT_TRUE(child.runs());
  EXPECT_EQ(ProcessHandle::open(child.pid(), std::nullopt)->nice(), own_niceness());
}

TEST(ProcessHandle, GivesTheNumberOfAUserWithoutAName) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs processes of two users";
  const auto pid = ::fork();
  if (pid == 0) {
    if (::setuid(3999999) != 0) ::_exit(1);
    for (;;) ::pause();
  }
  const Child child(pid);
  while (file(fmt::format("/proc/{}/status", pid)).find("\nUid:\t3999999\t") == std::string::npos) {
    std::this_thread::sleep_for(1ms);
  }
  const auto line = in_child([&]() -> std::string {
    if (!give_up_root()) return "still root";
    return said(ProcessHandle::open(child.pid(), std::nullopt)->signal(SIGTERM));
  });
  EXPECT_EQ(line, "no permission: it belongs to user 3999999");
}

TEST(ProcessHandle, OnlyRootMayHaveItServedSooner) {
  const auto line = in_child([]() -> std::string {
    if (::geteuid() == 0 && !give_up_root()) return "still root";
    const Child child;
    const auto handle = ProcessHandle::open(child.pid(), std::nullopt);
    if (!handle || !handle->renice(19)) return "not even later";
    return said(handle->renice(-5));
  });
  EXPECT_EQ(line, "no permission: only root may have it served sooner");
}

}  // namespace
}  // namespace gpulse

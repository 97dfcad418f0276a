// SPDX-License-Identifier: Apache-2.0
#include "source/host/process_table.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/temporary_folder.hpp"

namespace gpulse::host {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

const double kTicks = static_cast<double>(::sysconf(_SC_CLK_TCK));
const double kPage = static_cast<double>(::sysconf(_SC_PAGESIZE));
const std::string kId = "3f4e1a2b5c6d7e8f90112233445566778899aabbccddeeff0011223344556677";

class ProcessTableTest : public testing::Test {
 protected:
  ProcessTableTest() {
    folder.write("/etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n");
    folder.write("/proc/uptime", "5000.00 1.00\n");
    put("python3", "S", 1000, 1000);
    folder.write("/proc/560/status", "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\n");
    folder.write("/proc/560/cmdline", "python3\0train.py\0--name\0a\x1B[1mb\0"sv);
    folder.write("/proc/560/cgroup", "0::/system.slice/docker-" + kId + ".scope\n");
    folder.write("/proc/560/environ", "A=1\0SLURM_JOB_ID=77\0"sv);
  }

  void put(std::string_view name, std::string_view state, int cpu_ticks, int start, int threads = 1) const {
    folder.write("/proc/560/stat", "560 (" + std::string(name) + ") " + std::string(state) +
                                       " 1 560 560 0 -1 4194560 100 0 5 0 " + std::to_string(cpu_ticks) +
                                       " 0 9 9 20 0 " + std::to_string(threads) + " 0 " + std::to_string(start) +
                                       " 900000000 2500 18446744073709551615\n");
  }

  void put_parent(int parent) const {
    folder.write("/proc/560/stat", "560 (python3) S " + std::to_string(parent) +
                                       " 560 560 0 -1 4194560 100 0 5 0 1000 0 9 9 20 0 1 0 1000 900000000 2500 1\n");
  }
  static std::string parent_stat(int pid, std::string_view name) {
    return std::to_string(pid) + " (" + std::string(name) + ") S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0\n";
  }

  Process look_up(std::uint32_t pid = 560) {
    Process process;
    process.pid = pid;
    table.look_up(process, now);
    return process;
  }

  static std::string told(const Process &process, std::string_view key) {
    const auto &reading = (*process.texts)[*find_metric(Scope::process, key)];
    return reading ? reading.value() : "<" + text(reading.reason()) + ">";
  }
  static Reading number(const Process &process, std::string_view key) {
    return process.row[*find_metric(Scope::process, key)];
  }
  static void expect_numbers(const Process &process, Reason reason) {
    for (const auto *key : {"cpu_percent", "host_memory_bytes", "running_seconds", "parent_pid", "nice", "threads"}) {
      EXPECT_TRUE(number(process, key).is(reason)) << key;
    }
  }

  TemporaryFolder folder;
  ProcessTable table{folder.root()};
  Monotonic now{100s};
};

TEST_F(ProcessTableTest, TellsWhoAndWhat) {
  EXPECT_TRUE(table.sees_host_pids());
  const auto process = look_up();
  EXPECT_FALSE(process.gone);
  EXPECT_FALSE(process.foreign);
  EXPECT_EQ(told(process, "user"), "ann");
  EXPECT_EQ(told(process, "name"), "python3");
  EXPECT_EQ(told(process, "command"), "python3 train.py --name a [1mb");
  ASSERT_NE(process.arguments, nullptr);
  EXPECT_EQ(*process.arguments, (std::vector<std::string>{"python3", "train.py", "--name", "a\x1B[1mb"}));
  EXPECT_EQ(told(process, "container"), "3f4e1a2b5c6d");
  EXPECT_EQ(told(process, "pod"), "<not supported>");
  EXPECT_EQ(told(process, "job"), "77");
  EXPECT_EQ(number(process, "host_memory_bytes"), Reading(2500 * kPage));
  EXPECT_EQ(number(process, "running_seconds"), Reading(5000 - 1000 / kTicks));
  EXPECT_TRUE(number(process, "cpu_percent").is(Reason::not_sampled));
  EXPECT_TRUE(number(process, "gpu_memory_bytes").is(Reason::not_sampled)) << "the driver's, not ours";
}

TEST_F(ProcessTableTest, TellsOfItsStartItsParentAndItsThreads) {
  folder.write("/proc/1/stat", parent_stat(1, "systemd"));
  folder.write("/proc/560/stat",
               "560 (python3) S 1 560 560 0 -1 4194560 100 0 5 0 1000 0 9 9 20 -5 12 0 1000 900000000 2500 1\n");
  const auto process = look_up();
  EXPECT_EQ(process.start_ticks, 1000U);
  EXPECT_EQ(number(process, "parent_pid"), Reading(1.0));
  EXPECT_EQ(told(process, "parent"), "systemd");
  EXPECT_EQ(number(process, "nice"), Reading(-5.0));
  EXPECT_EQ(number(process, "threads"), Reading(12.0));
}

TEST_F(ProcessTableTest, TellsThePidsInsideOfAContainer) {
  EXPECT_EQ(look_up().inner_pids, std::vector<std::uint32_t>{}) << "a kernel that does not tell";
  now += 1s;
  put("python3", "S", 1000, 2000);
  folder.write("/proc/560/status", "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t560\t31\t1\n");
  const auto inside = look_up();
  EXPECT_EQ(inside.inner_pids, (std::vector<std::uint32_t>{31, 1}));
  EXPECT_EQ(told(inside, "user"), "ann");
  now += 1s;
  folder.remove("/proc/560");
  const auto gone = look_up();
  EXPECT_TRUE(gone.gone);
  EXPECT_EQ(gone.inner_pids, inside.inner_pids) << "kept, as its name is";
}

TEST_F(ProcessTableTest, AReusedPidHasNoneOfTheInnerPidsBefore) {
  folder.write("/proc/560/status", "Uid:\t1000\t1000\t1000\t1000\nNSpid:\t560\t31\n");
  EXPECT_EQ(look_up().inner_pids, std::vector<std::uint32_t>{31});
  now += 1s;
  put("python3", "S", 1000, 2000);
  folder.remove("/proc/560/status");
  EXPECT_TRUE(look_up().inner_pids.empty());
}

TEST_F(ProcessTableTest, TheParentsNameIsReadOnceAndAgainForAnotherParent) {
  folder.write("/proc/1/stat", parent_stat(1, "systemd"));
  folder.write("/proc/417/stat", parent_stat(417, "torchrun"));
  put_parent(417);
  const auto first = look_up();
  EXPECT_EQ(told(first, "parent"), "torchrun");
  folder.write("/proc/417/stat", parent_stat(417, "renamed"));
  now += 1s;
  EXPECT_EQ(look_up().texts, first.texts);
  folder.remove("/proc/417");
  put_parent(1);
  now += 1s;
  const auto orphan = look_up();
  EXPECT_EQ(number(orphan, "parent_pid"), Reading(1.0));
  EXPECT_EQ(told(orphan, "parent"), "systemd");
  EXPECT_EQ(told(orphan, "command"), "python3 train.py --name a [1mb");
  EXPECT_EQ(told(first, "parent"), "torchrun") << "what was handed out does not change";
}

TEST_F(ProcessTableTest, AParentThatIsNotShownHasNoName) {
  put_parent(417);
  EXPECT_EQ(told(look_up(), "parent"), "<lost>");
  put_parent(0);
  now += 1s;
  const auto outside = look_up();
  EXPECT_EQ(number(outside, "parent_pid"), Reading(0.0));
  EXPECT_EQ(told(outside, "parent"), "<not supported>") << "outside of our namespace, or the first of all";
  folder.write("/proc/9/stat", "nonsense");
  put_parent(9);
  now += 1s;
  EXPECT_EQ(told(look_up(), "parent"), "<error>");
}

TEST_F(ProcessTableTest, AnOddParentIsSafeToPrint) {
  folder.write("/proc/417/stat", parent_stat(417, "a) S 1 (\x1B[1m"));
  put_parent(417);
  EXPECT_EQ(told(look_up(), "parent"), "a) S 1 ( [1m");
}

TEST_F(ProcessTableTest, ProcessorUseSinceTheLookUpBefore) {
  look_up();
  now += 2s;
  put("python3", "R", 1000 + static_cast<int>(3 * kTicks), 1000);
  EXPECT_EQ(number(look_up(), "cpu_percent"), Reading(150.0));
  // The same process on another device in the same sample.
  now += 19ms;
  put("python3", "R", 9999999, 1000);
  EXPECT_EQ(number(look_up(), "cpu_percent"), Reading(150.0));
}

TEST_F(ProcessTableTest, TheExactCountOfPagesWhereThereIsOne) {
  EXPECT_EQ(number(look_up(), "host_memory_bytes"), Reading(2500 * kPage));
  folder.write("/proc/560/statm", "219726 2617 1800 1 0 300 0\n");
  now += 1s;
  EXPECT_EQ(number(look_up(), "host_memory_bytes"), Reading(2617 * kPage));
  folder.write("/proc/560/statm", "nonsense\n");
  now += 1s;
  EXPECT_EQ(number(look_up(), "host_memory_bytes"), Reading(2500 * kPage));
}

TEST_F(ProcessTableTest, CountersThatGoBackGiveNoRate) {
  look_up();
  now += 1s;
  put("python3", "S", 10, 1000);
  EXPECT_TRUE(number(look_up(), "cpu_percent").is(Reason::not_sampled));
}

TEST_F(ProcessTableTest, FactsAreReadOnceAndAgainAfterARename) {
  const auto first = look_up();
  now += 1s;
  folder.write("/proc/560/cmdline", "other\0"sv);
  EXPECT_EQ(look_up().texts, first.texts);
  now += 1s;
  put("other", "S", 1000, 1000);
  EXPECT_EQ(told(look_up(), "command"), "other");
}

TEST_F(ProcessTableTest, AReusedPidGetsFreshFacts) {
  look_up();
  now += 1s;
  put("python3", "S", 99999, 2000);
  folder.write("/proc/560/cmdline", "python3\0other.py\0"sv);
  folder.write("/proc/560/status", "Uid:\t4242\t4242\t4242\t4242\n");
  const auto process = look_up();
  EXPECT_EQ(process.start_ticks, 2000U);
  EXPECT_EQ(told(process, "command"), "python3 other.py");
  EXPECT_EQ(told(process, "user"), "4242");
  EXPECT_TRUE(number(process, "cpu_percent").is(Reason::not_sampled));
  EXPECT_EQ(number(process, "running_seconds"), Reading(5000 - 2000 / kTicks));
}

TEST_F(ProcessTableTest, OddNames) {
  put("a) S (\n\x1B", "S", 1, 1000);
  folder.write("/proc/560/cmdline", "");
  const auto process = look_up();
  EXPECT_EQ(told(process, "name"), "a) S (  ");
  EXPECT_EQ(told(process, "command"), "[a) S (  ]");
}

TEST_F(ProcessTableTest, LongCommandLinesAreCut) {
  folder.write("/proc/560/cmdline", std::string(10'000, 'x'));
  EXPECT_EQ(told(look_up(), "command").size(), 4096U);
}

TEST_F(ProcessTableTest, GoneKeepsWhatWasKnown) {
  look_up();
  now += 1s;
  folder.remove("/proc/560");
  const auto process = look_up();
  EXPECT_TRUE(process.gone);
  EXPECT_EQ(told(process, "user"), "ann");
  EXPECT_EQ(told(process, "command"), "python3 train.py --name a [1mb");
  expect_numbers(process, Reason::lost);
}

TEST_F(ProcessTableTest, GoneBeforeItWasSeen) {
  const auto process = look_up(777);
  EXPECT_TRUE(process.gone);
  for (const auto *key : {"user", "name", "command", "container", "pod", "job", "parent"}) {
    EXPECT_EQ(told(process, key), "<lost>") << key;
  }
  expect_numbers(process, Reason::lost);
}

TEST_F(ProcessTableTest, AZombieIsGone) {
  put("python3", "Z", 1000, 1000);
  folder.write("/proc/560/cmdline", "");
  const auto unknown = look_up();
  EXPECT_TRUE(unknown.gone);
  EXPECT_EQ(told(unknown, "name"), "python3");
  EXPECT_EQ(told(unknown, "command"), "python3");
  EXPECT_EQ(told(unknown, "user"), "ann");
  expect_numbers(unknown, Reason::lost);
}

TEST_F(ProcessTableTest, AZombieKeepsItsLastCommand) {
  look_up();
  now += 1s;
  put("python3", "Z", 1000, 1000);
  folder.write("/proc/560/cmdline", "");
  const auto known = look_up();
  EXPECT_TRUE(known.gone);
  EXPECT_EQ(told(known, "command"), "python3 train.py --name a [1mb");
}

TEST_F(ProcessTableTest, AFirstThreadThatEndedIsNotTheProcess) {
  put("python3", "Z", 1000, 1000, 4);
  EXPECT_FALSE(look_up().gone);
}

TEST_F(ProcessTableTest, NonsenseIsAnError) {
  folder.write("/proc/560/stat", "nonsense");
  const auto process = look_up();
  EXPECT_FALSE(process.gone);
  EXPECT_EQ(told(process, "name"), "<error>");
  expect_numbers(process, Reason::error);
}

// What every user may read, for somebody else to show.
TEST_F(ProcessTableTest, ForEverybodyTheEnvironmentIsLeftAlone) {
  folder.write("/proc/560/cgroup", "0::/system.slice/train.service\n");
  folder.write("/proc/self/mountinfo", "24 30 0:22 / /proc rw,nosuid shared:12 - proc proc rw\n");
  EXPECT_EQ(told(look_up(), "job"), "77");
  ProcessTable everybody(folder.root(), Audience::everybody);
  Process process;
  process.pid = 560;
  everybody.look_up(process, now);
  EXPECT_EQ(told(process, "job"), "train.service");
  EXPECT_EQ(told(process, "user"), "ann");
  EXPECT_EQ(told(process, "command").substr(0, 16), "python3 train.py");
  // Its owner may look for himself.
  table.add_private(process, now);
  EXPECT_EQ(told(process, "job"), "77");
}

TEST_F(ProcessTableTest, WhereProcessesAreHiddenEverybodyLearnsNothing) {
  folder.write("/proc/self/mountinfo", "24 30 0:22 / /proc rw,nosuid shared:12 - proc proc rw,hidepid=invisible\n");
  ProcessTable everybody(folder.root(), Audience::everybody);
  Process process;
  process.pid = 560;
  everybody.look_up(process, now, false, "/usr/bin/python3");
  for (const auto *key : {"user", "name", "program", "command", "container", "job", "parent"})
    EXPECT_EQ(told(process, key), "<no permission>") << key;
  expect_numbers(process, Reason::no_permission);
  EXPECT_EQ(process.arguments, nullptr);
  EXPECT_FALSE(process.foreign);
  // Whoever runs the program sees what he may.
  EXPECT_EQ(told(look_up(), "user"), "ann");
}

TEST_F(ProcessTableTest, AnotherProcessOfTheSamePidHasStartedAtAnotherTime) {
  EXPECT_TRUE(table.has_started(560, 1000));
  EXPECT_FALSE(table.has_started(560, 1001));
  EXPECT_FALSE(table.has_started(561, 1000));
}

TEST_F(ProcessTableTest, TheJobIsOfTheControlGroupThenTheEnvironmentThenTheUnit) {
  folder.write("/proc/560/cgroup", "0::/system.slice/slurmstepd.scope/job_12/step_0\n");
  EXPECT_EQ(told(look_up(), "job"), "12");
  now += 1s;
  folder.write("/proc/560/cgroup", "0::/system.slice/train.service\n");
  put("renamed", "S", 1, 1000);
  EXPECT_EQ(told(look_up(), "job"), "77");
  now += 1s;
  folder.remove("/proc/560/environ");
  put("again", "S", 1, 1000);
  EXPECT_EQ(told(look_up(), "job"), "train.service");
}

TEST_F(ProcessTableTest, TheAccountIsOfTheJobsFileThenOfTheEnvironment) {
  folder.write("/proc/560/cgroup", "0::/system.slice/slurmstepd.scope/job_12/step_0\n");
  folder.write("/proc/560/environ", "SLURM_JOB_ID=12\0SLURM_JOB_ACCOUNT=claimed\0"sv);
  EXPECT_EQ(told(look_up(), "account"), "claimed");
  folder.write("/run/gpulse-jobs/12", "user=ann\naccount=physics\n");
  folder.write("/run/gpulse-jobs/13", "user=bob\naccount=biology\n");
  now += 1s;
  put("renamed", "S", 1, 1000);
  EXPECT_EQ(told(look_up(), "account"), "physics");
  // A folder that anybody may write to says nothing.
  std::filesystem::permissions(folder.path("/run/gpulse-jobs"), std::filesystem::perms::all);
  now += 1s;
  put("again", "S", 1, 1000);
  EXPECT_EQ(told(look_up(), "account"), "claimed");
}

TEST_F(ProcessTableTest, ForEverybodyTheAccountIsOfTheJobsFileAlone) {
  folder.write("/proc/560/cgroup", "0::/system.slice/slurmstepd.scope/job_12/step_0\n");
  folder.write("/proc/560/environ", "SLURM_JOB_ID=12\0SLURM_JOB_ACCOUNT=claimed\0"sv);
  folder.write("/proc/self/mountinfo", "24 30 0:22 / /proc rw,nosuid shared:12 - proc proc rw\n");
  const auto look = [&] {
    ProcessTable everybody(folder.root(), Audience::everybody);
    Process process;
    process.pid = 560;
    everybody.look_up(process, now);
    return process;
  };
  auto process = look();
  EXPECT_EQ(told(process, "account"), "<no permission>");
  table.add_private(process, now);
  EXPECT_EQ(told(process, "account"), "claimed") << "its owner may look for himself";
  folder.write("/run/gpulse-jobs/12", "account=physics\n");
  EXPECT_EQ(told(look(), "account"), "physics");
}

TEST_F(ProcessTableTest, InNoContainerIsNotSupported) {
  folder.write("/proc/560/cgroup", "0::/user.slice/user-1000.slice/session-1.scope\n");
  folder.remove("/proc/560/environ");
  const auto process = look_up();
  for (const auto *key : {"container", "pod", "job", "account"}) {
    EXPECT_EQ(told(process, key), "<not supported>") << key;
  }
}

TEST_F(ProcessTableTest, WhatIsNotForUsIsNoPermission) {
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  for (const auto *file : {"/proc/560/cgroup", "/proc/560/environ"}) {
    std::filesystem::permissions(folder.path(file), std::filesystem::perms::none);
  }
  // Root may read everything, so drop to nobody for a moment.
  const auto user = ::geteuid();
  if (user == 0 && ::seteuid(65534) != 0) GTEST_SKIP() << "no other user to be";
  const auto process = look_up();
  ASSERT_EQ(::seteuid(user), 0);
  EXPECT_EQ(told(process, "user"), "ann");
  for (const auto *key : {"container", "pod", "job"}) EXPECT_EQ(told(process, key), "<no permission>") << key;
}

TEST_F(ProcessTableTest, AnotherNamespaceIsNotLookedInto) {
  folder.link("/proc/self/ns/pid", "pid:[4026532555]");
  ProcessTable inner(folder.root());
  EXPECT_FALSE(inner.sees_host_pids());
  Process process;
  process.pid = 560;
  process.row[process_metric("gpu_memory_bytes")] = 5.0;
  process.inner_pids = {31};
  inner.look_up(process, now);
  EXPECT_TRUE(process.foreign);
  EXPECT_FALSE(process.gone);
  EXPECT_EQ(process.start_ticks, 0U);
  EXPECT_TRUE(process.inner_pids.empty());
  EXPECT_EQ(told(process, "name"), "<no permission>");
  expect_numbers(process, Reason::no_permission);
  EXPECT_EQ(number(process, "gpu_memory_bytes"), Reading(5.0));
}

TEST_F(ProcessTableTest, TheDriversNameStandsInForWhatProcDoesNotShow) {
  const auto named = [&](ProcessTable &from, std::uint32_t pid) {
    Process process;
    process.pid = pid;
    from.look_up(process, now, false, "/usr/bin/python3");
    return process;
  };
  const auto gone = named(table, 777);
  EXPECT_TRUE(gone.gone);
  EXPECT_EQ(told(gone, "name"), "python3");
  EXPECT_EQ(told(gone, "program"), "/usr/bin/python3");
  EXPECT_EQ(told(gone, "command"), "/usr/bin/python3");
  EXPECT_EQ(told(gone, "user"), "<lost>");
  folder.link("/proc/self/ns/pid", "pid:[4026532555]");
  ProcessTable inner(folder.root());
  const auto foreign = named(inner, 560);
  EXPECT_TRUE(foreign.foreign);
  EXPECT_EQ(told(foreign, "name"), "python3");
  EXPECT_EQ(told(foreign, "user"), "<no permission>");
}

TEST_F(ProcessTableTest, TheFirstNamespaceIsLookedInto) {
  folder.link("/proc/self/ns/pid", "pid:[4026531836]");
  EXPECT_TRUE(ProcessTable(folder.root()).sees_host_pids());
}

TEST_F(ProcessTableTest, ForgetsTheUnseen) {
  look_up();
  now += 1s;
  table.forget_unseen(now - 1s);
  folder.remove("/proc/560");
  EXPECT_EQ(told(look_up(), "name"), "python3");
  table.forget_unseen(now + 1ns);
  EXPECT_EQ(told(look_up(), "name"), "<lost>");
}

TEST_F(ProcessTableTest, ManyThreadsAtOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        Process process;
        process.pid = 560;
        table.look_up(process, now + round * 25ms + i * 1ms);
        if (round % 50 == 0) table.forget_unseen(now);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(told(look_up(), "name"), "python3");
}

TEST(ProcessTable, SeesItselfOnThisMachine) {
  ProcessTable table{Sysroot()};
  if (!table.sees_host_pids()) GTEST_SKIP() << "not in the first pid namespace";
  Process process;
  process.pid = static_cast<std::uint32_t>(::getpid());
  table.look_up(process, monotonic_now());
  EXPECT_FALSE(process.gone);
  EXPECT_TRUE((*process.texts)[process_metric("user")].has_value());
  EXPECT_NE((*process.texts)[process_metric("command")].value_or("").find("_test"), std::string::npos);
  EXPECT_GT(process.row[process_metric("host_memory_bytes")].value_or(0), 1e5);
  EXPECT_LT(process.row[process_metric("running_seconds")].value_or(1e9), 600);
  EXPECT_GT(process.start_ticks, 0U);
  EXPECT_EQ(process.row[process_metric("parent_pid")], Reading(static_cast<double>(::getppid())));
  EXPECT_EQ(process.row[process_metric("nice")], Reading(static_cast<double>(::getpriority(PRIO_PROCESS, 0))));
  EXPECT_GE(process.row[process_metric("threads")].value_or(0), 1);
  EXPECT_TRUE((*process.texts)[process_metric("parent")].has_value());
}

// A child that does what it is told, looked up in this machine's own /proc.
class OwnChild : public testing::Test {
 protected:
  void SetUp() override {
    if (!table.sees_host_pids()) GTEST_SKIP() << "not in the first pid namespace";
  }
  void TearDown() override { end(); }

  void start(void (*does)()) {
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child != 0) return;
    does();
    ::_exit(0);
  }
  void start_resting() {
    start([] {
      for (;;) ::pause();
    });
    std::this_thread::sleep_for(20ms);  // until it sleeps
  }
  void end() {
    if (child <= 0) return;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    child = 0;
  }
  Process look_up(Monotonic now) {
    Process process;
    process.pid = static_cast<std::uint32_t>(child);
    table.look_up(process, now);
    return process;
  }
  static Reading number(const Process &process, MetricId id) { return process.row[id]; }

  static constexpr auto kCpu = process_metric("cpu_percent");
  ProcessTable table{Sysroot()};
  pid_t child = 0;
};

TEST_F(OwnChild, UseIsToldFinerThanInTicks) {
  start([] {
    for (;;) continue;
  });
  look_up(monotonic_now());
  std::this_thread::sleep_for(50ms);
  const auto use = number(look_up(monotonic_now()), kCpu);
  ASSERT_TRUE(use.has_value());
  EXPECT_GT(use.value(), 5);
  EXPECT_LT(use.value(), 120);
  EXPECT_NE(std::fmod(use.value(), 1), 0) << "a whole number of ticks";
}

TEST_F(OwnChild, OneThatRestsUsesNothingAndIsStillThere) {
  start_resting();
  const auto begun = monotonic_now();
  const auto first = look_up(begun);
  for (int i = 1; i <= 8; ++i) {
    const auto process = look_up(begun + i * 1s);
    EXPECT_EQ(number(process, kCpu), Reading(0.0)) << i;
    EXPECT_FALSE(process.gone);
    EXPECT_EQ(process.start_ticks, first.start_ticks);
    EXPECT_EQ(process.texts, first.texts);
  }
}

TEST_F(OwnChild, AnotherNicenessIsSeenAtOnceAlsoAtRest) {
  start_resting();
  const auto begun = monotonic_now();
  look_up(begun);
  look_up(begun + 1s);
  ASSERT_EQ(::setpriority(PRIO_PROCESS, static_cast<id_t>(child), 7), 0);
  EXPECT_EQ(number(look_up(begun + 2s), process_metric("nice")), Reading(7.0));
}

// A new parent is nothing that a sleeping process does itself, so it is seen late, but it is seen.
TEST_F(OwnChild, AtRestANewParentIsSeenAfterAWhile) {
  std::array<int, 2> told{};
  ASSERT_EQ(::pipe(told.data()), 0);
  const pid_t first = ::fork();
  ASSERT_GE(first, 0);
  if (first == 0) {
    const pid_t second = ::fork();
    if (second != 0 && ::write(told[1], &second, sizeof second) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  ASSERT_EQ(::read(told[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  std::this_thread::sleep_for(20ms);  // until it sleeps
  const auto parent = process_metric("parent_pid");
  const auto now = monotonic_now();
  look_up(now);
  EXPECT_EQ(number(look_up(now + 1s), parent), Reading(static_cast<double>(first)));
  ::kill(first, SIGKILL);
  ::waitpid(first, nullptr, 0);
  const auto later = number(look_up(now + 8s), parent);
  EXPECT_TRUE(later.has_value());
  EXPECT_NE(later, Reading(static_cast<double>(first)));
  for (const int end : told) ::close(end);
}

TEST_F(OwnChild, MemoryThatGrowsIsSeenAtOnce) {
  static constexpr std::size_t kGrowth = 64 << 20;
  start([] {
    ::usleep(300000);
    void *grown = std::malloc(kGrowth);
    if (grown != nullptr) std::memset(grown, 1, kGrowth);
    for (;;) ::pause();
  });
  const auto before = number(look_up(monotonic_now()), process_metric("host_memory_bytes"));
  ASSERT_TRUE(before.has_value());
  const auto grown = before.value() + 0.9 * kGrowth;
  Reading after;
  for (const auto end = monotonic_now() + 4s; monotonic_now() < end && after.value_or(0) < grown;) {
    std::this_thread::sleep_for(30ms);
    after = number(look_up(monotonic_now()), process_metric("host_memory_bytes"));
  }
  EXPECT_GE(after.value_or(0), grown);
}

TEST_F(OwnChild, OneThatRestedIsGoneWhenItEndsAndWhenItIsForgotten) {
  start_resting();
  const auto begun = monotonic_now();
  look_up(begun);
  look_up(begun + 1s);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  const auto zombie = look_up(begun + 2s);
  EXPECT_TRUE(zombie.gone);
  EXPECT_TRUE(number(zombie, kCpu).is(Reason::lost));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(look_up(begun + 3s).gone);
  child = 0;
}

TEST(ProcessTable, SeesAZombieOnThisMachine) {
  ProcessTable table{Sysroot()};
  if (!table.sees_host_pids()) GTEST_SKIP() << "not in the first pid namespace";
  const auto child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  Process process;
  process.pid = static_cast<std::uint32_t>(child);
  table.look_up(process, monotonic_now());
  EXPECT_TRUE(process.gone);
  EXPECT_TRUE((*process.texts)[process_metric("name")].has_value());
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace gpulse::host

// SPDX-License-Identifier: Apache-2.0
#include "source/host/process_trees.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/temporary_folder.hpp"

namespace gpulse::host {
namespace {

using namespace std::chrono_literals;

const double kTicks = static_cast<double>(::sysconf(_SC_CLK_TCK));
const double kPage = static_cast<double>(::sysconf(_SC_PAGESIZE));

struct Facts {
  int pid = 0;
  int parent = 1;
  double cpu_seconds = 0;
  double children_cpu_seconds = 0;
  char state = 'S';
  int start = 1000;
  int pages = 100;
  int threads = 1;
  double waited_seconds = 0;
};

std::string ticks(double seconds) { return std::to_string(std::lround(seconds * kTicks)); }

std::string stat_line(const Facts &facts) {
  const auto text = [](int number) { return std::to_string(number); };
  return text(facts.pid) + " (python3) " + facts.state + " " + text(facts.parent) + " 1 1 0 -1 0 0 0 0 0 " +
         ticks(facts.cpu_seconds) + " 0 " + ticks(facts.children_cpu_seconds) + " 0 20 0 " + text(facts.threads) +
         " 0 " + text(facts.start) + " 9000 " + text(facts.pages) + " 1 2 3 4 5 6 7 8 9 10 11 12 13 17 0 0 0 " +
         ticks(facts.waited_seconds) + " 0 0\n";
}

class ProcessTreesTest : public testing::Test {
 protected:
  void put(const Facts &facts) const { folder.write("/proc/" + std::to_string(facts.pid) + "/stat", stat_line(facts)); }
  void put_thread(int pid, int thread, char state) const {
    folder.write("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/stat",
                 stat_line({.pid = thread, .state = state}));
  }
  void put_io(int pid, int read, int written) const {
    folder.write("/proc/" + std::to_string(pid) + "/io",
                 "rchar: 99\nwchar: 98\nsyscr: 7\nsyscw: 6\nread_bytes: " + std::to_string(read) +
                     "\nwrite_bytes: " + std::to_string(written) + "\ncancelled_write_bytes: 5\n");
  }
  void end(int pid) const { folder.remove("/proc/" + std::to_string(pid)); }

  Row look(std::uint32_t pid = 10, std::uint64_t start = 1000) {
    Row row(Scope::process);
    trees.fill(row, pid, start, now);
    return row;
  }
  Row look_later() {
    now += 1s;
    return look();
  }
  static Reading number(const Row &row, std::string_view key) { return row[*find_metric(Scope::process, key)]; }
  static double value(const Row &row, std::string_view key) {
    const auto reading = number(row, key);
    EXPECT_TRUE(reading.has_value()) << key;
    return reading.value_or(-1);
  }

  TemporaryFolder folder;
  ProcessTrees trees{folder.root(), std::nullopt, true};
  Monotonic now{100s};
};

TEST_F(ProcessTreesTest, AProcessAloneIsItsOwnJob) {
  put({.pid = 10, .cpu_seconds = 5});
  put_io(10, 1000, 200);
  put({.pid = 20, .cpu_seconds = 7});
  const auto first = look();
  EXPECT_EQ(value(first, "tree_processes"), 1);
  EXPECT_EQ(value(first, "tree_memory_bytes"), 100 * kPage);
  for (const auto *key : {"tree_cpu_percent", "tree_busy_processes", "tree_read_bytes_per_second",
                          "tree_write_bytes_per_second", "tree_disk_wait_percent"}) {
    EXPECT_TRUE(number(first, key).is(Reason::not_sampled)) << key;
  }
  put({.pid = 10, .cpu_seconds = 5.5});
  put_io(10, 4000, 1200);
  const auto second = look_later();
  EXPECT_EQ(value(second, "tree_cpu_percent"), 50);
  EXPECT_EQ(value(second, "tree_read_bytes_per_second"), 3000);
  EXPECT_EQ(value(second, "tree_write_bytes_per_second"), 1000);
}

// 10 ── 11 ── 13, and 10 ── 12; 20 is somebody else's.
TEST_F(ProcessTreesTest, EverythingThatItHasStartedCounts) {
  put({.pid = 10, .cpu_seconds = 1, .pages = 1});
  put({.pid = 11, .parent = 10, .start = 1001, .pages = 20});
  put({.pid = 12, .parent = 10, .start = 1002, .pages = 300});
  put({.pid = 13, .parent = 11, .start = 1003, .pages = 4000});
  put({.pid = 20, .parent = 1, .start = 900, .pages = 50000});
  for (const int pid : {10, 11, 12, 13}) put_io(pid, 0, 0);
  look();
  put({.pid = 10, .cpu_seconds = 1.25, .pages = 1});
  put({.pid = 11, .parent = 10, .cpu_seconds = 0.95, .state = 'R', .start = 1001, .pages = 20});
  put({.pid = 13, .parent = 11, .cpu_seconds = 0.85, .state = 'R', .start = 1003, .pages = 4000});
  put_io(12, 5000, 0);
  put_io(13, 0, 700);
  const auto row = look_later();
  EXPECT_EQ(value(row, "tree_processes"), 4);
  EXPECT_EQ(value(row, "tree_memory_bytes"), 4321 * kPage);
  EXPECT_NEAR(value(row, "tree_cpu_percent"), 205, 1e-6);
  EXPECT_EQ(value(row, "tree_busy_processes"), 1) << "85 % is not a whole core";
  EXPECT_EQ(value(row, "tree_idle_percent"), 50);
  EXPECT_EQ(value(row, "tree_read_bytes_per_second"), 5000);
  EXPECT_EQ(value(row, "tree_write_bytes_per_second"), 700);
}

TEST_F(ProcessTreesTest, ItLooksOnceASecondAtMost) {
  put({.pid = 10});
  look();
  put({.pid = 10, .cpu_seconds = 0.1});
  now += 100ms;
  EXPECT_NEAR(value(look(), "tree_cpu_percent"), 100, 1e-6) << "a first rate comes soon";
  put({.pid = 10, .cpu_seconds = 0.6});
  now += 500ms;
  EXPECT_NEAR(value(look(), "tree_cpu_percent"), 100, 1e-6) << "the last one holds";
  now += 500ms;
  EXPECT_NEAR(value(look(), "tree_cpu_percent"), 50, 1e-6);
}

TEST_F(ProcessTreesTest, ALoaderWhoseParentHasEndedStays) {
  put({.pid = 10});
  put({.pid = 11, .parent = 10, .start = 1001});
  put({.pid = 12, .parent = 11, .start = 1002});
  EXPECT_EQ(value(look(), "tree_processes"), 3);
  end(11);
  put({.pid = 12, .parent = 1, .start = 1002});
  EXPECT_EQ(value(look_later(), "tree_processes"), 2);
  put({.pid = 12, .parent = 1, .cpu_seconds = 1, .state = 'R', .start = 1002});
  const auto row = look_later();
  EXPECT_EQ(value(row, "tree_processes"), 2);
  EXPECT_NEAR(value(row, "tree_cpu_percent"), 100, 1e-6);
}

TEST_F(ProcessTreesTest, AnotherProcessUnderTheSamePidIsNoPartOfIt) {
  put({.pid = 10});
  put({.pid = 11, .parent = 10, .start = 1001});
  EXPECT_EQ(value(look(), "tree_processes"), 2);
  put({.pid = 11, .parent = 1, .start = 5000});
  EXPECT_EQ(value(look_later(), "tree_processes"), 1);
  // One that is older than the process was started by another with its pid.
  put({.pid = 12, .parent = 10, .start = 999});
  EXPECT_EQ(value(look_later(), "tree_processes"), 1);
}

TEST_F(ProcessTreesTest, ADeviceUserInsideOfAnothersJobHasItsOwn) {
  put({.pid = 10});
  put({.pid = 11, .parent = 10, .start = 1001});
  put({.pid = 12, .parent = 11, .start = 1002});
  EXPECT_EQ(value(look(10), "tree_processes"), 3);
  EXPECT_EQ(value(look(11, 1001), "tree_processes"), 2);
  put({.pid = 12, .parent = 11, .cpu_seconds = 0.5, .start = 1002});
  now += 1s;
  EXPECT_NEAR(value(look(10), "tree_cpu_percent"), 50, 1e-6);
  EXPECT_NEAR(value(look(11, 1001), "tree_cpu_percent"), 50, 1e-6);
}

TEST_F(ProcessTreesTest, OneThatIsNewCountsFromItsStart) {
  put({.pid = 10});
  put_io(10, 0, 0);
  look();
  put({.pid = 11, .parent = 10, .cpu_seconds = 0.95, .state = 'R', .start = 1500});
  put_io(11, 600, 0);
  const auto row = look_later();
  EXPECT_NEAR(value(row, "tree_cpu_percent"), 95, 1e-6);
  EXPECT_EQ(value(row, "tree_busy_processes"), 1);
  EXPECT_EQ(value(row, "tree_read_bytes_per_second"), 600);
}

// The kernel adds what a child has used to its parent when the parent has waited for it.
TEST_F(ProcessTreesTest, AChildThatHasEndedIsNotCountedTwice) {
  put({.pid = 10});
  put_io(10, 0, 0);
  put({.pid = 11, .parent = 10, .cpu_seconds = 60, .start = 1001});
  put_io(11, 900'000, 50'000);
  look();
  end(11);
  // It used another 0.25 s and read another 3000 bytes before its end.
  put({.pid = 10, .cpu_seconds = 0.1, .children_cpu_seconds = 60.25});
  put_io(10, 903'000, 50'000);
  const auto row = look_later();
  EXPECT_NEAR(value(row, "tree_cpu_percent"), 35, 1e-6);
  EXPECT_EQ(value(row, "tree_read_bytes_per_second"), 3000);
  EXPECT_EQ(value(row, "tree_write_bytes_per_second"), 0);
  EXPECT_EQ(value(look_later(), "tree_cpu_percent"), 0);
}

TEST_F(ProcessTreesTest, AZombieIsNoProcessOfItAndIsNotCountedTwiceEither) {
  put({.pid = 10});
  put_io(10, 0, 0);
  put({.pid = 11, .parent = 10, .cpu_seconds = 60, .start = 1001});
  put_io(11, 900'000, 0);
  look();
  put({.pid = 11, .parent = 10, .cpu_seconds = 60.5, .state = 'Z', .start = 1001});
  const auto zombie = look_later();
  EXPECT_EQ(value(zombie, "tree_processes"), 1);
  EXPECT_NEAR(value(zombie, "tree_cpu_percent"), 50, 1e-6);
  EXPECT_EQ(value(look_later(), "tree_cpu_percent"), 0);
  end(11);
  put({.pid = 10, .children_cpu_seconds = 60.5});
  put_io(10, 900'000, 0);
  const auto after = look_later();
  EXPECT_NEAR(value(after, "tree_cpu_percent"), 0, 1e-6);
  EXPECT_EQ(value(after, "tree_read_bytes_per_second"), 0);
}

TEST_F(ProcessTreesTest, AWholeBranchThatHasEndedIsNotCountedTwice) {
  put({.pid = 10});
  put({.pid = 11, .parent = 10, .cpu_seconds = 20, .start = 1001});
  put({.pid = 12, .parent = 11, .cpu_seconds = 30, .start = 1002});
  look();
  end(11);
  end(12);
  put({.pid = 10, .children_cpu_seconds = 50});
  EXPECT_NEAR(value(look_later(), "tree_cpu_percent"), 0, 1e-6);
}

TEST_F(ProcessTreesTest, OneThatCameAndWentBetweenTwoLooksCounts) {
  put({.pid = 10});
  look();
  put({.pid = 10, .children_cpu_seconds = 0.75});
  EXPECT_NEAR(value(look_later(), "tree_cpu_percent"), 75, 1e-6);
}

TEST_F(ProcessTreesTest, ASumThatLacksAPartIsAReason) {
  put({.pid = 10});
  put_io(10, 0, 0);
  put({.pid = 11, .parent = 10, .start = 1001});
  look();
  auto row = look_later();
  EXPECT_TRUE(number(row, "tree_read_bytes_per_second").is(Reason::not_supported)) << "11 does not tell";
  EXPECT_EQ(value(row, "tree_cpu_percent"), 0);
  folder.write("/proc/11/io", "nonsense");
  row = look_later();
  EXPECT_TRUE(number(row, "tree_read_bytes_per_second").is(Reason::error));
  put_io(11, 800, 0);
  EXPECT_TRUE(number(look_later(), "tree_read_bytes_per_second").is(Reason::not_sampled));
  EXPECT_EQ(value(look_later(), "tree_read_bytes_per_second"), 0);
}

TEST_F(ProcessTreesTest, WhatEverybodyIsToldHasNoBytes) {
  put({.pid = 10});
  put_io(10, 0, 0);
  ProcessTrees open(folder.root(), std::nullopt, false);
  Row row(Scope::process);
  open.fill(row, 10, 1000, now);
  open.fill(row, 10, 1000, now + 1s);
  EXPECT_TRUE(number(row, "tree_read_bytes_per_second").is(Reason::no_permission));
  EXPECT_TRUE(number(row, "tree_write_bytes_per_second").is(Reason::no_permission));
  EXPECT_EQ(value(row, "tree_processes"), 1);
  EXPECT_EQ(value(row, "tree_cpu_percent"), 0);
}

TEST_F(ProcessTreesTest, TheKernelsCountOfWaitsIsTakenWhereThereIsOne) {
  put({.pid = 10});
  put({.pid = 11, .parent = 10, .state = 'D', .start = 1001, .waited_seconds = 3});
  look();
  put({.pid = 11, .parent = 10, .state = 'D', .start = 1001, .waited_seconds = 3.4});
  const auto row = look_later();
  EXPECT_NEAR(value(row, "tree_disk_wait_percent"), 40, 1e-6);
  EXPECT_EQ(value(row, "tree_idle_percent"), 50);
  // A long wait is counted when it is over, all at once.
  put({.pid = 11, .parent = 10, .state = 'D', .start = 1001, .waited_seconds = 9});
  EXPECT_EQ(value(look_later(), "tree_disk_wait_percent"), 100);
}

TEST_F(ProcessTreesTest, WithoutACountTheStateAtTheLastLooksSaysHowMuchItWaits) {
  put({.pid = 10, .state = 'D', .threads = 3});
  put_thread(10, 10, 'D');
  put_thread(10, 15, 'D');
  put_thread(10, 16, 'S');
  look();
  EXPECT_EQ(value(look_later(), "tree_disk_wait_percent"), 200) << "two tasks";
  put({.pid = 10, .state = 'S', .threads = 3});
  put_thread(10, 15, 'R');
  EXPECT_EQ(value(look_later(), "tree_disk_wait_percent"), 100) << "two in one of two looks";
  for (int i = 0; i < 3; ++i) look_later();
  EXPECT_EQ(value(look_later(), "tree_disk_wait_percent"), 0);
}

TEST_F(ProcessTreesTest, AProcessWhoseThreadsWorkIsNotIdle) {
  put({.pid = 10, .threads = 8});
  EXPECT_EQ(value(look(), "tree_idle_percent"), 100);
  put({.pid = 10, .cpu_seconds = 4, .threads = 8});
  EXPECT_EQ(value(look_later(), "tree_idle_percent"), 0);
}

TEST_F(ProcessTreesTest, ThePressureIsThatOfItsControlGroup) {
  put({.pid = 10});
  EXPECT_TRUE(number(look(), "cgroup_pressure_cpu_percent").is(Reason::not_supported)) << "no group";
  folder.write("/sys/fs/cgroup/cgroup.controllers", "cpu io memory\n");
  folder.write("/proc/10/cgroup", "0::/system.slice/train.service\n");
  const std::string group = "/sys/fs/cgroup/system.slice/train.service/";
  folder.write(group + "cpu.pressure", "some avg10=12.50 avg60=1.00 avg300=0.10 total=5\n");
  folder.write(group + "io.pressure", "some avg10=80.25 avg60=1.00 avg300=0.10 total=5\nfull avg10=70.00 total=4\n");
  now += 20s;
  auto row = look();
  EXPECT_EQ(value(row, "cgroup_pressure_cpu_percent"), 12.5);
  EXPECT_EQ(value(row, "cgroup_pressure_io_percent"), 80.25);
  EXPECT_TRUE(number(row, "cgroup_pressure_memory_percent").is(Reason::not_supported));
  folder.write(group + "io.pressure", "some\n");
  row = look_later();
  EXPECT_TRUE(number(row, "cgroup_pressure_io_percent").is(Reason::error));
  // A group outside of what our namespace shows.
  folder.write("/proc/10/cgroup", "0::/../../system.slice/train.service\n");
  now += 20s;
  EXPECT_TRUE(number(look(), "cgroup_pressure_cpu_percent").is(Reason::not_supported));
}

TEST_F(ProcessTreesTest, BesideVersionOneItsGroupsAreInAFolderOfTheirOwn) {
  put({.pid = 10});
  folder.write("/proc/10/cgroup", "4:memory:/jobs/7\n0::/jobs/7\n");
  folder.write("/sys/fs/cgroup/unified/jobs/7/memory.pressure", "some avg10=3.00 avg60=1.00 avg300=0.10 total=5\n");
  EXPECT_EQ(value(look(), "cgroup_pressure_memory_percent"), 3);
}

TEST_F(ProcessTreesTest, NothingIsReadThatNobodyWants) {
  put({.pid = 10});
  folder.write("/proc/10/cgroup", "0::/a\n");
  folder.write("/sys/fs/cgroup/unified/a/cpu.pressure", "some avg10=3.00 avg60=1.00 avg300=0.10 total=5\n");
  for (const auto *key : {"tree_processes", "cgroup_pressure_cpu_percent", "threads"}) {
    const auto wanted = *find_metric(Scope::process, key);
    ProcessTrees some(folder.root(), MetricSet{wanted}, true);
    Row row(Scope::process);
    some.fill(row, 10, 1000, now);
    EXPECT_EQ(number(row, "tree_processes").has_value(), key == std::string_view("tree_processes"));
    EXPECT_EQ(number(row, "cgroup_pressure_cpu_percent").has_value(),
              key == std::string_view("cgroup_pressure_cpu_percent"));
  }
}

TEST_F(ProcessTreesTest, AProcessThatEndsTakesItsJobAlong) {
  put({.pid = 10});
  put({.pid = 11, .parent = 10, .start = 1001});
  look();
  end(10);
  put({.pid = 11, .parent = 1, .start = 1001});
  const auto row = look_later();
  for (const auto *key : {"tree_processes", "tree_cpu_percent", "tree_memory_bytes"}) {
    EXPECT_TRUE(number(row, key).is(Reason::lost)) << key;
  }
}

// Real processes of this machine.
class RealTree : public testing::Test {
 protected:
  ~RealTree() override {
    for (const auto pid : started) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  pid_t start(const std::function<void()> &work) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      work();
      ::_exit(0);
    }
    started.push_back(pid);
    return pid;
  }
  // Of this very process, which is the root of the job.
  Row look() {
    ProcessCensus census{Sysroot()};
    census.update(now);
    const auto own = static_cast<std::uint32_t>(::getpid());
    Row row(Scope::process);
    trees.fill(row, own, census.start_of(own).value_or(0), now);
    now += 1s;
    return row;
  }

  std::vector<pid_t> started;
  Monotonic now{100s};
  ProcessTrees trees{Sysroot(), std::nullopt, true};
};

TEST_F(RealTree, ChildrenThatComeAndGoAreSeen) {
  constexpr auto kProcesses = process_metric("tree_processes");
  const auto wait = [] {
    for (;;) ::pause();
  };
  start(wait);
  EXPECT_EQ(look()[kProcesses], Reading(2.0));
  const auto second = start(wait);
  EXPECT_EQ(look()[kProcesses], Reading(3.0));
  ::kill(second, SIGKILL);
  ::waitpid(second, nullptr, 0);
  started.pop_back();
  EXPECT_EQ(look()[kProcesses], Reading(2.0));
}

TEST(ParseLastPid, TheLastWordOfLoadavg) {
  EXPECT_EQ(parse_last_pid("0.20 0.18 0.12 1/80 11206\n"), 11206U);
  for (const auto *bad : {"", "0.20 0.18 0.12 1/80", "0.20 0.18 0.12 1/80 x", "0.20 0.18 0.12 1/80 0"}) {
    EXPECT_FALSE(parse_last_pid(bad)) << bad;
  }
}

}  // namespace
}  // namespace gpulse::host

// SPDX-License-Identifier: Apache-2.0
#include "tui/host_processes.hpp"

#include <gmock/gmock.h>

#include "base/process_stat.hpp"
#include "base/temporary_folder.hpp"
#include "tui/process_children.hpp"
#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using namespace std::string_view_literals;
using std::chrono::seconds;
using testing::make_process;

// A machine of files: a trainer, its two loaders, one of them with a helper, and a stranger.
class Machine {
 public:
  Machine() {
    write("uptime", "5000.00 9000.00\n");
    process(100, 1, 'S', 0, "python3\0train.py\0"sv);
    process(101, 100, 'R', 0, "python3\0loader\0"sv);
    process(102, 100, 'D', 0, "python3\0loader\0"sv);
    process(103, 102, 'S', 0, "gzip\0"sv);
    process(900, 1, 'R', 0, "stress\0"sv);
  }

  // `seconds` of CPU time used until now.
  void process(int pid, int parent, char state, double cpu_seconds, std::string_view command, std::uint64_t read = 0) {
    const auto ticks = static_cast<std::uint64_t>(cpu_seconds * ticks_per_second());
    write(
        fmt::format("{}/stat", pid),
        fmt::format("{} (name) {} {} 0 0 0 0 0 0 0 0 0 {} 0 0 0 20 0 1 0 1000 0 256 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
                    "0 0 0 0 0 0 0 0 0 0\n",
                    pid, state, parent, ticks));
    write(fmt::format("{}/cmdline", pid), command);
    write(fmt::format("{}/io", pid), fmt::format("rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: {}\nwrite_bytes: "
                                                 "0\ncancelled_write_bytes: 0\n",
                                                 read));
  }

  void write(const std::string &name, std::string_view text) const { folder_.write("/proc/" + name, text); }
  Sysroot root() const { return folder_.root(); }
  std::string path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

const Monotonic kStart{seconds(1000)};

TEST(HostProcesses, TellWhatEachUsedBetweenTwoLooks) {
  Machine machine;
  HostProcesses processes(machine.root());
  processes.look(kStart);
  ASSERT_EQ(processes.all().size(), 5U);
  EXPECT_FALSE(processes.all().at(101).cpu_percent) << "one look says nothing about how busy it is";
  EXPECT_EQ(processes.all().at(101).command, "python3 loader");
  machine.process(101, 100, 'R', 2.0, "", 40 << 20);
  processes.look(kStart + seconds(2));
  const auto &loader = processes.all().at(101);
  EXPECT_NEAR(loader.cpu_percent.value(), 100, 1e-9) << "two seconds in two seconds: a whole core";
  EXPECT_NEAR(loader.read_bytes_per_second.value(), 20 << 20, 1);
  EXPECT_EQ(loader.state, 'R');
  EXPECT_EQ(processes.all().at(102).cpu_percent.value(), 0);
}

TEST(HostProcesses, OfATreeTheBusiestFirst) {
  Machine machine;
  HostProcesses processes(machine.root());
  processes.look(kStart);
  machine.process(102, 100, 'D', 1.0, "");
  machine.process(103, 102, 'S', 1.5, "");
  processes.look(kStart + seconds(2));
  std::vector<std::uint32_t> pids;
  for (const auto *child : processes.below(100)) pids.push_back(child->pid);
  EXPECT_EQ(pids, (std::vector<std::uint32_t>{103, 102, 101})) << "and not the stranger";
  EXPECT_TRUE(processes.below(900).empty());
}

TEST(HostProcesses, UnfoldBelowTheGpuProcessWithoutThoseThatHaveARow) {
  Machine machine;
  HostProcesses processes(machine.root());
  processes.look(kStart);
  machine.process(102, 100, 'D', 0.5, "", 100 << 20);
  processes.look(kStart + seconds(1));
  auto snapshot = testing::make_snapshot(1);
  snapshot.processes = {make_process(100, 0, "python3 train.py"), make_process(101, 0, "python3 loader")};
  auto list = list_processes(snapshot, default_settings(), {}, true);
  unfold(list, {100}, processes, true);
  ASSERT_EQ(list.rows.size(), 4U);
  const auto parent = std::ranges::find(list.rows, 100U, [](const ListRow &row) { return row.process->pid; });
  const auto at = static_cast<std::size_t>(parent - list.rows.begin());
  ASSERT_LT(at + 2, list.rows.size());
  const auto &child = list.rows[at + 1];
  EXPECT_EQ(child.kind, ListRow::Kind::child);
  EXPECT_EQ(child.process->pid, 102U);
  EXPECT_EQ(child.process->row[process_metric("cpu_percent")], Reading(50.0));
  EXPECT_EQ((*child.process->texts)[process_metric("command")].value(), "[D, reads 100M/s] python3 loader");
  EXPECT_EQ(child.guide, "├ ");
  EXPECT_EQ(list.rows[at + 2].process->pid, 103U);
}

TEST(HostProcesses, StayUnfoldedFromSampleToSample) {
  Machine machine;
  testing::LiveView live({120, 40}, {.sysroot = machine.path()});
  auto snapshot = testing::make_snapshot(1);
  snapshot.processes = {make_process(100, 0, "python3 train.py")};
  live.sample(snapshot);
  live.press("Down J");
  EXPECT_TRUE(live.shows("[D] python3 loader")) << live.text();
  live.sample(testing::later(snapshot, 1));
  EXPECT_TRUE(live.shows("[D] python3 loader"));
  live.press("J");
  EXPECT_FALSE(live.shows("loader"));
}

}  // namespace
}  // namespace gpulse::tui

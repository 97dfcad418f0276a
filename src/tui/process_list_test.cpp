// SPDX-License-Identifier: Apache-2.0
#include "tui/process_list.hpp"

#include <gtest/gtest.h>

#include "view/testing.hpp"

namespace gpulse::tui {
namespace {

using view::testing::make_process;

Process child(std::uint32_t pid, double parent, std::string_view parent_name, std::uint32_t device = 0) {
  auto process = make_process(pid, device, fmt::format("job {}", pid));
  process.row[process_metric("parent_pid")] = parent;
  TextRow texts = *process.texts;
  texts[process_metric("parent")] = std::string(parent_name);
  process.texts = std::make_shared<TextRow>(texts);
  return process;
}

// "guide pid" of every line.
std::vector<std::string> shape(const Snapshot &snapshot, const Settings &settings) {
  std::vector<std::string> lines;
  const auto list = list_processes(snapshot, settings, {}, true);
  for (const auto &row : list.rows) lines.push_back(fmt::format("{}{}", row.guide, row.process->pid));
  return lines;
}

Settings tree_by_pid() {
  auto settings = default_settings();
  settings.tree = true;
  settings.sort = *column_named("pid");
  settings.descending = false;
  return settings;
}

TEST(ProcessList, ATreeHangsProcessesBelowTheirParents) {
  Snapshot snapshot;
  snapshot.processes = {child(11, 10, "torchrun"), child(12, 10, "torchrun"), child(20, 11, "python3"),
                        child(5, 1, "init")};
  EXPECT_EQ(shape(snapshot, tree_by_pid()),
            (std::vector<std::string>{"1", "└─ 5", "10", "├─ 11", "│  └─ 20", "└─ 12"}));
}

TEST(ProcessList, AProcessOnSeveralDevicesStaysTogetherInTheTree) {
  Snapshot snapshot;
  snapshot.processes = {child(11, 10, "torchrun", 0), child(12, 10, "torchrun", 0), child(11, 10, "torchrun", 1)};
  EXPECT_EQ(shape(snapshot, tree_by_pid()), (std::vector<std::string>{"10", "├─ 11", "├─ 11", "└─ 12"}));
}

TEST(ProcessList, ParentsInACircleDoNotHangTheTree) {
  Snapshot snapshot;
  snapshot.processes = {child(11, 12, "a"), child(12, 13, "b"), child(13, 11, "c"), child(14, 14, "d"),
                        child(15, 1e30, "e")};
  EXPECT_EQ(shape(snapshot, tree_by_pid()).size(), 5U);
}

TEST(ProcessList, WhatIsNotKnownComesLastEitherWay) {
  Snapshot snapshot;
  snapshot.processes = {make_process(1, 0, "a"), make_process(2, 0, "b"), make_process(3, 0, "c")};
  snapshot.processes[0].row[process_metric("cpu_percent")] = Reason::no_permission;
  snapshot.processes[1].row[process_metric("cpu_percent")] = 5;
  snapshot.processes[2].row[process_metric("cpu_percent")] = 50;
  auto settings = default_settings();
  settings.sort = *column_named("cpu_percent");
  EXPECT_EQ(shape(snapshot, settings), (std::vector<std::string>{"3", "2", "1"}));
  settings.descending = false;
  EXPECT_EQ(shape(snapshot, settings), (std::vector<std::string>{"2", "3", "1"}));
}

TEST(ProcessList, OnlyComputeOrOnlyGraphics) {
  Snapshot snapshot;
  snapshot.processes = {make_process(1, 0, "a"), make_process(2, 0, "b"), make_process(3, 0, "c")};
  snapshot.processes[1].types = static_cast<std::uint8_t>(ProcessType::graphics);
  snapshot.processes[2].types = 3;  // both
  auto settings = default_settings();
  settings.sort = *column_named("pid");
  settings.descending = false;
  settings.only = OnlyType::compute;
  EXPECT_EQ(shape(snapshot, settings), (std::vector<std::string>{"1", "3"}));
  settings.only = OnlyType::graphics;
  EXPECT_EQ(shape(snapshot, settings), (std::vector<std::string>{"2", "3"}));
}

}  // namespace
}  // namespace gpulse::tui

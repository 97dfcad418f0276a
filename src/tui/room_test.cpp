// SPDX-License-Identifier: Apache-2.0
// What there is room for: a screen with one more line never shows less of anything.
#include <gmock/gmock.h>

#include <array>

#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using testing::crowded;
using testing::later;
using testing::LiveView;

struct Shown {
  int devices = 0, processes = 0, charts = 0, host = 0;
};

int times(std::string_view text, std::string_view words) {
  int found = 0;
  for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++found;
  return found;
}

// PIDs are 5000 to 5021.
bool is_process(std::string_view line) {
  const auto at = line.find(" 50");
  if (at == line.npos || line.size() < at + 5) return false;
  const auto digit = [&](std::size_t place) { return line[place] >= '0' && line[place] <= '9'; };
  return digit(at + 3) && digit(at + 4);
}

// What a reader would count.
Shown count(const std::vector<std::string> &lines) {
  Shown shown;
  for (const auto &line : lines) {
    const auto has = [&](std::string_view words) { return line.find(words) != std::string::npos; };
    for (const auto title : {"UTIL  ●", "SM  ●", "DRAM  ●", "USED  ●", "H200  ●"}) shown.charts += times(line, title);
    if (has("●")) continue;
    shown.processes += is_process(line) ? 1 : 0;
    shown.devices += has(" H200") && !has("─ GPUs") ? 1 : 0;
    shown.host += has("CPU ") || has("LOAD ") ? 1 : 0;
  }
  return shown;
}

// Half a minute in which use goes up and down.
void watch(LiveView &live, std::uint32_t devices, std::uint32_t processes) {
  for (int i = 0; i < 30; ++i) {
    auto snapshot = later(crowded(devices, processes), i);
    for (auto &device : snapshot.devices) {
      device.row[device_metric("gpu_utilization_percent")] = (i * 5 + static_cast<int>(device.id.index) * 13) % 100;
    }
    live.sample(snapshot);
  }
}

AppOptions without_findings() { return {.watch = {.step = std::chrono::hours(24)}}; }

class Room : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Room, OneMoreLineNeverShowsLess) {
  const auto devices = GetParam();
  LiveView live({300, 100}, without_findings());
  watch(live, devices, 22);
  for (const int columns : {20, 33, 47, 60, 80, 99, 100, 120, 121, 150, 200, 300}) {
    Shown before;
    for (int rows = 5; rows <= 100; ++rows) {
      live.app.resize({columns, rows});
      const auto now = count(live.lines());
      const auto size = fmt::format("{} GPUs, {}x{}", devices, columns, rows);
      ASSERT_GE(now.devices, before.devices) << size;
      ASSERT_GE(now.processes, before.processes) << size;
      ASSERT_GE(now.charts, before.charts) << size;
      ASSERT_GE(now.host, before.host) << size;
      before = now;
    }
    EXPECT_GT(before.processes, 10) << "and there is room for processes at " << columns << "x100";
    EXPECT_GE(before.devices, static_cast<int>(std::min(devices, 16U)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Room, ::testing::Values(1U, 8U, 16U, 128U));

TEST(RoomTest, ProcessesAndPlotsComeBeforeFramesAndDetailsOfTheHost) {
  LiveView live({120, 36}, without_findings());
  watch(live, 8, 22);
  const auto shown = count(live.lines());
  EXPECT_EQ(shown.devices, 8);
  EXPECT_GE(shown.processes, 10);
  EXPECT_EQ(shown.charts, 4);
  EXPECT_EQ(live.line_of("╭─ GPUs"), -1) << "no frame yet";
  live.app.resize({120, 50});
  EXPECT_EQ(live.line_of("╭─ GPUs"), 1);
}

TEST(RoomTest, AHundredAndTwentyEightGpusLeaveRoomForProcesses) {
  LiveView live({300, 80}, without_findings());
  watch(live, 128, 40);
  const auto shown = count(live.lines());
  EXPECT_GE(shown.processes, 15);
  EXPECT_GE(shown.devices, 20);
  EXPECT_EQ(shown.charts, 4);
  EXPECT_TRUE(live.shows("128x all"));
}

}  // namespace
}  // namespace gpulse::tui

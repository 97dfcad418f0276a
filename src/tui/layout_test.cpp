// SPDX-License-Identifier: Apache-2.0
#include "tui/layout.hpp"

#include <gtest/gtest.h>

namespace gpulse::tui {
namespace {

PanelNeeds needs(int devices, int processes, int events = 0) {
  return {.devices_compact = 1 + devices,
          .devices_full = 1 + 2 * devices,
          .device_count = static_cast<std::size_t>(devices),
          .host = 4,
          .processes = 1 + processes,
          .events = events,
          .charts = devices > 2 ? std::size_t{4} : static_cast<std::size_t>(devices)};
}

const PlacedPanel *find(const Layout &layout, Panel panel) {
  for (const auto &each : layout.panels) {
    if (each.panel == panel) return &each;
  }
  return nullptr;
}

TEST(Layout, NoSizeMakesPanelsOverlapOrLeaveTheScreen) {
  const auto settings = default_settings();
  for (int columns = 0; columns <= 300; columns += 17) {
    for (int rows = 0; rows <= 300; ++rows) {
      for (const int devices : {0, 1, 2, 8, 128}) {
        const auto layout = lay_out({columns, rows}, settings, needs(devices, devices * 5, devices));
        int next = layout.header.rows;
        for (const auto &[panel, where] : layout.panels) {
          ASSERT_EQ(where.y, next);
          ASSERT_GT(where.rows, 0);
          ASSERT_EQ(where.columns, columns);
          next += where.rows;
        }
        ASSERT_LE(next + layout.footer.rows, rows) << columns << "x" << rows << " with " << devices;
      }
    }
  }
}

TEST(Layout, EightAndSixteenDevicesFitASmallTerminalWithProcessesBelow) {
  for (const int devices : {8, 16}) {
    const auto layout = lay_out({80, 24}, default_settings(), needs(devices, 40));
    ASSERT_NE(find(layout, Panel::devices), nullptr);
    EXPECT_EQ(find(layout, Panel::devices)->where.rows, devices + 1) << "a line each and the heading";
    ASSERT_NE(find(layout, Panel::processes), nullptr);
    EXPECT_GE(find(layout, Panel::processes)->where.rows, 4);
    EXPECT_EQ(find(layout, Panel::plots), nullptr);
    EXPECT_FALSE(layout.boxed);
  }
}

TEST(Layout, OneDeviceGetsTwoLinesAndAPlot) {
  const auto layout = lay_out({120, 40}, default_settings(), needs(1, 3));
  EXPECT_TRUE(layout.two_lines);
  ASSERT_NE(find(layout, Panel::plots), nullptr);
  EXPECT_GE(find(layout, Panel::plots)->where.rows, 12);
}

TEST(Layout, TheScreenIsUsedToTheLastLine) {
  for (const auto size : {term::Size{80, 24}, term::Size{120, 40}, term::Size{200, 50}, term::Size{40, 12}}) {
    const auto layout = lay_out(size, default_settings(), needs(2, 8));
    ASSERT_FALSE(layout.panels.empty());
    const auto &last = layout.panels.back().where;
    EXPECT_EQ(last.y + last.rows + layout.footer.rows, size.rows);
  }
}

TEST(Layout, FollowsTheOrderOfTheSettings) {
  auto settings = default_settings();
  std::swap(settings.panels.front(), settings.panels.back());
  const auto layout = lay_out({120, 50}, settings, needs(1, 3, 2));
  EXPECT_EQ(layout.panels.front().panel, Panel::events);
  EXPECT_EQ(layout.panels.back().panel, Panel::devices);
}

}  // namespace
}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
#include "tui/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

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
        for (const auto &[panel, where, titled] : layout.panels) {
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
    for (const auto &each : layout.panels) EXPECT_FALSE(each.titled);
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

// A panel's lines without those of the frame.
int lines_of(const Layout &layout, Panel panel) {
  const auto *found = find(layout, panel);
  if (found == nullptr) return 0;
  const bool closes = layout.boxed && found == &layout.panels.back();
  return found->where.rows - (found->titled ? 1 : 0) - (closes ? 1 : 0);
}

TEST(Layout, OneMoreLineTakesNothingFromAnyPanel) {
  const auto settings = default_settings();
  for (const int devices : {1, 8, 16, 128}) {
    for (int columns = 20; columns <= 300; ++columns) {
      std::array<int, kPanels> before{};
      for (int rows = 5; rows <= 100; ++rows) {
        const auto layout = lay_out({columns, rows}, settings, needs(devices, 22, 3));
        for (std::size_t i = 0; i < kPanels; ++i) {
          const int lines = lines_of(layout, static_cast<Panel>(i));
          ASSERT_GE(lines, before[i]) << word(static_cast<Panel>(i)) << " at " << columns << "x" << rows << " with "
                                      << devices;
          before[i] = lines;
        }
      }
    }
  }
}

TEST(Layout, ListsAndPlotsHaveTheirLinesBeforeFramesAndDetailsOfTheHost) {
  for (int rows = 5; rows <= 100; ++rows) {
    const auto layout = lay_out({120, rows}, default_settings(), needs(8, 22));
    const bool framed = std::ranges::any_of(layout.panels, &PlacedPanel::titled);
    if (!framed && lines_of(layout, Panel::host) <= 1) continue;
    EXPECT_GE(lines_of(layout, Panel::processes), 12) << rows;
    EXPECT_GE(lines_of(layout, Panel::plots), 10) << rows;
    EXPECT_EQ(lines_of(layout, Panel::devices), 9) << rows;
  }
}

TEST(Layout, FindingsComeALineAtATime) {
  auto wanted = needs(8, 22);
  wanted.findings = 5;
  int before = 0;
  for (int rows = 5; rows <= 100; ++rows) {
    const auto layout = lay_out({120, rows}, default_settings(), wanted);
    EXPECT_GE(layout.findings.rows, before);
    EXPECT_LE(layout.findings.rows, std::min(before + 1, 3));
    before = layout.findings.rows;
  }
  EXPECT_EQ(before, 3);
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

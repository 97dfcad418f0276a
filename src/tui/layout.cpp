// SPDX-License-Identifier: Apache-2.0
#include "tui/layout.hpp"

#include <algorithm>
#include <array>

#include "tui/chart.hpp"

namespace gpulse::tui {

namespace {

// On smaller screens the content needs the lines and columns that frames would take.
constexpr term::Size kBoxedFrom{100, 36};
constexpr int kRowsWithHeader = 6;
constexpr int kRowsWithFooter = 10;
constexpr std::size_t kDevicesWithTwoLines = 4;
constexpr int kProcessesAtLeast = 4;
// Plots are shown only if this many lines of processes fit as well.
constexpr int kProcessesBesidePlots = 8;
constexpr int kMostEventRows = 6;
// What is wrong: one line on a small screen, some more on others.
constexpr int kRowsWithFindings = 14, kRowsWithMoreFindings = 24, kMostFindingRows = 3;
// Share of the remaining lines that plots get when the processes could use all of them.
constexpr double kPlotShare = 0.5;

class Planner {
 public:
  Planner(const Settings &settings, const PanelNeeds &needs, int rows, bool boxed)
      : settings_(settings), needs_(needs), rows_(rows), frame_(boxed ? 2 : 0) {
    for (const auto &each : settings.panels) {
      if (each.shown && worth(each.panel)) height(each.panel) = 1;
    }
  }

  // Lines for each panel, 0 for those left out.
  std::array<int, kPanels> plan(bool &two_lines) {
    for (const auto panel : {Panel::events, Panel::plots, Panel::host, Panel::processes}) {
      const int more = panel == Panel::plots && shown(Panel::processes)
                           ? std::max(0, std::min(needs_.processes, kProcessesBesidePlots) - 3)
                           : 0;
      if (minimum() + more > rows_) height(panel) = 0;
    }
    if (minimum() > rows_ && shown(Panel::devices)) {
      height(Panel::devices) = std::max(0, rows_);
      return heights_;
    }
    for (std::size_t i = 0; i < kPanels; ++i) {
      if (heights_[i] > 0) heights_[i] = least(static_cast<Panel>(i));
    }
    grow(Panel::devices, needs_.devices_compact + frame_);
    grow(Panel::processes, std::min(needs_.processes, kProcessesAtLeast) + frame_);
    if (frame_ > 0) grow(Panel::host, needs_.host + frame_);
    two_lines = choose_two_lines();
    if (two_lines) grow(Panel::devices, needs_.devices_full + frame_);
    grow(Panel::events, std::min(needs_.events, kMostEventRows) + frame_);
    share_rest();
    return heights_;
  }

 private:
  int &height(Panel panel) { return heights_[static_cast<std::size_t>(panel)]; }
  bool shown(Panel panel) { return height(panel) > 0; }

  bool worth(Panel panel) const {
    if (panel == Panel::plots) return needs_.charts > 0;
    if (panel == Panel::events) return needs_.events > 0 || frame_ > 0;
    return true;
  }

  int least(Panel panel) const {
    switch (panel) {
      case Panel::devices:
        // All devices, but no more than half of the screen.
        return std::min(needs_.devices_compact, std::max(4, rows_ / 2)) + frame_;
      case Panel::plots:
        return kChartRows + frame_;
      case Panel::processes:
        return std::min(needs_.processes, 3) + frame_;
      case Panel::host:
      case Panel::events:
        break;
    }
    return 1 + frame_;
  }

  int minimum() const {
    int sum = 0;
    for (std::size_t i = 0; i < kPanels; ++i) sum += heights_[i] > 0 ? least(static_cast<Panel>(i)) : 0;
    return sum;
  }

  int left() const {
    int sum = rows_;
    for (const auto each : heights_) sum -= each;
    return sum;
  }

  void grow(Panel panel, int to) {
    if (!shown(panel)) return;
    height(panel) += std::clamp(to - height(panel), 0, std::max(0, left()));
  }

  bool choose_two_lines() {
    if (!shown(Panel::devices) || settings_.rows == DeviceRows::compact) return false;
    if (settings_.rows == DeviceRows::full) return true;
    const int more = needs_.devices_full - needs_.devices_compact;
    return needs_.device_count <= kDevicesWithTwoLines && more + 2 <= left();
  }

  void share_rest() {
    const bool plots = shown(Panel::plots);
    const int wanted = shown(Panel::processes) ? needs_.processes + frame_ : 0;
    if (plots) {
      const int more = std::max(0, wanted - height(Panel::processes));
      const int reserved = std::min(more, left() - static_cast<int>(left() * kPlotShare));
      grow(Panel::plots, height(Panel::plots) + left() - reserved);
    }
    // The list takes the rest, even as blank lines, so that nothing jumps when processes come and go.
    if (shown(Panel::processes)) return grow(Panel::processes, rows_);
    for (const auto panel : {Panel::plots, Panel::events, Panel::devices}) {
      if (shown(panel)) return grow(panel, rows_);
    }
  }

  const Settings &settings_;
  const PanelNeeds &needs_;
  int rows_;
  int frame_;
  std::array<int, kPanels> heights_{};
};

}  // namespace

Layout lay_out(term::Size size, const Settings &settings, const PanelNeeds &needs) {
  Layout layout;
  layout.boxed = size.columns >= kBoxedFrom.columns && size.rows >= kBoxedFrom.rows;
  int top = 0;
  int bottom = std::max(0, size.rows);
  if (size.rows >= kRowsWithHeader) layout.header = {0, top++, size.columns, 1};
  if (size.rows >= kRowsWithFindings && needs.findings > 0) {
    const int most = size.rows >= kRowsWithMoreFindings ? kMostFindingRows : 1;
    layout.findings = {0, top, size.columns, std::min(needs.findings, most)};
    top += layout.findings.rows;
  }
  if (size.rows >= kRowsWithFooter) layout.footer = {0, --bottom, size.columns, 1};
  Planner planner(settings, needs, bottom - top, layout.boxed);
  const auto heights = planner.plan(layout.two_lines);
  for (const auto &each : settings.panels) {
    const int rows = heights[static_cast<std::size_t>(each.panel)];
    if (!each.shown || rows <= 0) continue;
    layout.panels.push_back({each.panel, {0, top, size.columns, rows}});
    top += rows;
  }
  return layout;
}

}  // namespace gpulse::tui

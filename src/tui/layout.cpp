// SPDX-License-Identifier: Apache-2.0
#include "tui/layout.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>

#include "tui/chart.hpp"

namespace gpulse::tui {

namespace {

constexpr int kRowsWithHeader = 6;
constexpr int kRowsWithFooter = 10;
// What is wrong: one line on a small screen, some more on others, a line at a time.
constexpr std::array kRowsWithFindings{14, 24, 26};
constexpr std::size_t kDevicesWithTwoLines = 2;
constexpr int kMostEventRows = 6;
// Narrower screens need the columns that a frame would take.
constexpr int kColumnsWithTitles = 40, kColumnsWithFrame = 100;

class Planner {
 public:
  Planner(const Settings &settings, const PanelNeeds &needs, term::Size size)
      : settings_(settings), needs_(needs), columns_(size.columns), left_(std::max(0, size.rows)) {}

  // Fulfils one wish after the other, down to the last line. Heading and a few lines of the lists come first, then
  // plots, then more of both; frames, details of the host and the log of events have what is left.
  void plan() {
    const int devices = settings_.rows == DeviceRows::full ? needs_.devices_full : needs_.devices_compact;
    const int processes = needs_.processes;
    share({{Panel::devices, std::min(devices, 5)}});
    share({{Panel::processes, std::min(processes, 3)}});
    share({{Panel::devices, std::min(devices, 17)}});
    share({{Panel::host, 1}});
    share({{Panel::processes, std::min(processes, 4)}});
    share({{Panel::devices, std::min(devices, 18)}, {Panel::events, std::min(needs_.events, 1)}});
    const int listed = std::min(processes, 12);
    share({{Panel::processes, listed}});
    share({{Panel::plots, kChartRows}});
    if (may_have_two_lines()) share({{Panel::devices, needs_.devices_full}});
    // Lines that the list does not need go to the plots.
    share({{Panel::plots, 22 - listed}});
    share({{Panel::events, 1}});
    add_frames();
    share({{Panel::host, needs_.host}, {Panel::events, std::min(needs_.events, kMostEventRows)}});
    constexpr int kAll = std::numeric_limits<int>::max();
    share({{Panel::processes, processes}, {Panel::plots, kAll}, {Panel::devices, devices}});
    for (const auto panel : {Panel::processes, Panel::events, Panel::devices, Panel::host}) share({{panel, kAll}});
  }

  // Lines without those of the frame.
  int lines(Panel panel) const { return lines_[static_cast<std::size_t>(panel)]; }
  bool titled(Panel panel) const { return titled_[static_cast<std::size_t>(panel)]; }
  bool boxed() const { return boxed_; }
  bool two_lines() const {
    if (settings_.rows == DeviceRows::full) return lines(Panel::devices) > 0;
    return may_have_two_lines() && lines(Panel::devices) >= needs_.devices_full;
  }

 private:
  struct Wish {
    Panel panel;
    int lines;  // up to this many
  };

  // Gives a line to each in turn, until all have what they wish for.
  void share(std::initializer_list<Wish> wishes) {
    for (bool given = true; given && left_ > 0;) {
      given = false;
      for (const auto &[panel, wanted] : wishes) {
        if (left_ == 0 || !is_worth_it(panel) || lines(panel) >= wanted) continue;
        ++lines_[static_cast<std::size_t>(panel)];
        --left_;
        given = true;
      }
    }
  }

  void add_frames() {
    if (columns_ < kColumnsWithTitles) return;
    // Those whose title says most come first.
    for (const auto panel : {Panel::plots, Panel::processes, Panel::devices, Panel::events, Panel::host}) {
      if (lines(panel) == 0) continue;
      if (left_ == 0) return;
      titled_[static_cast<std::size_t>(panel)] = true;
      --left_;
    }
    const bool has_panel = std::ranges::find(titled_, true) != titled_.end();
    if (!has_panel || columns_ < kColumnsWithFrame || left_ == 0) return;
    boxed_ = true;
    --left_;
  }

  bool is_worth_it(Panel panel) const { return settings_.shows(panel) && (panel != Panel::plots || needs_.charts > 0); }

  bool may_have_two_lines() const {
    return settings_.rows == DeviceRows::automatic && needs_.device_count <= kDevicesWithTwoLines;
  }

  const Settings &settings_;
  const PanelNeeds &needs_;
  int columns_;
  int left_;
  std::array<int, kPanels> lines_{};
  std::array<bool, kPanels> titled_{};
  bool boxed_ = false;
};

int finding_rows(int rows, int findings) {
  const auto allowed = std::ranges::count_if(kRowsWithFindings, [&](int from) { return rows >= from; });
  return std::min(findings, static_cast<int>(allowed));
}

}  // namespace

Layout lay_out(term::Size size, const Settings &settings, const PanelNeeds &needs) {
  Layout layout;
  int top = 0;
  int bottom = std::max(0, size.rows);
  if (size.rows >= kRowsWithHeader) layout.header = {0, top++, size.columns, 1};
  if (const int rows = finding_rows(size.rows, needs.findings); rows > 0) {
    layout.findings = {0, top, size.columns, rows};
    top += rows;
  }
  if (size.rows >= kRowsWithFooter) layout.footer = {0, --bottom, size.columns, 1};
  Planner planner(settings, needs, {size.columns, bottom - top});
  planner.plan();
  layout.boxed = planner.boxed();
  layout.two_lines = planner.two_lines();
  for (const auto &each : settings.panels) {
    const int lines = planner.lines(each.panel);
    if (lines == 0) continue;
    const bool titled = planner.titled(each.panel);
    layout.panels.push_back({each.panel, {0, top, size.columns, lines + (titled ? 1 : 0)}, titled});
    top += layout.panels.back().where.rows;
  }
  // The last one has the line that closes the frame.
  if (layout.boxed) ++layout.panels.back().where.rows;
  return layout;
}

}  // namespace gpulse::tui

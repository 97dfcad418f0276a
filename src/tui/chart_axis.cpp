// SPDX-License-Identifier: Apache-2.0
#include "tui/chart_axis.hpp"

#include <algorithm>
#include <cmath>

#include "term/plot.hpp"
#include "view/cell.hpp"

namespace gpulse::tui {

using term::Area;

namespace {

constexpr int kMostLabelColumns = 7;

struct ValueTick {
  int y = 0;
  std::string label;
};

std::string label_at(const ValueAxis &axis, const Look &look, double share) {
  if (share == 0) return "0";
  return term::cut(view::short_value(look.style, *axis.metric, share * axis.high), kMostLabelColumns, "");
}

// The ends, and between them as many as there is room for.
std::vector<ValueTick> value_ticks(const ValueAxis &axis, const Look &look, int rows) {
  constexpr int kRowsWithHalf = 5, kRowsWithQuarters = 13;
  const int parts = rows >= kRowsWithQuarters ? 4 : rows >= kRowsWithHalf ? 2 : 1;
  std::vector<ValueTick> ticks;
  for (int i = 0; i <= parts; ++i) {
    const double share = static_cast<double>(i) / parts;
    ticks.push_back({static_cast<int>(std::lround((rows - 1) * (1 - share))), label_at(axis, look, share)});
  }
  return ticks;
}

void draw_line(const Area &area, const Look &look, int x, const std::vector<ValueTick> &ticks, char32_t tick) {
  for (int y = 0; y < area.rows(); ++y) {
    const bool marked = std::ranges::find(ticks, y, &ValueTick::y) != ticks.end();
    area.put_char(x, y, look.unicode() ? (marked ? tick : U'│') : U'|', look.theme->border);
  }
}

}  // namespace

int axis_columns(const ValueAxis &axis, const Look &look) {
  constexpr int kLeast = 4;  // "100%"
  int width = kLeast;
  for (const double share : {0.25, 0.5, 0.75, 1.0}) width = std::max(width, term::width(label_at(axis, look, share)));
  return width + 1;
}

void draw_left_axis(const Area &area, const Look &look, const ValueAxis &axis) {
  const auto ticks = value_ticks(axis, look, area.rows());
  const int line = area.columns() - 1;
  for (const auto &[y, label] : ticks) area.put(line - term::width(label), y, label, axis.ink);
  draw_line(area, look, line, ticks, U'┤');
}

void draw_right_axis(const Area &area, const Look &look, const ValueAxis &axis) {
  const auto ticks = value_ticks(axis, look, area.rows());
  for (const auto &[y, label] : ticks) area.put(1, y, label, axis.ink);
  draw_line(area, look, 0, ticks, U'├');
}

void draw_time_axis(const Area &area, const DrawContext &context, const TimeGrid &grid) {
  const auto &look = context.look;
  const int columns = area.columns();
  const bool left = context.settings.newest_left;
  area.fill(look.theme->border, look.unicode() ? U'─' : U'-');
  const auto newest = context.clock_times ? local_time(grid.newest(), "%H:%M:%S") : std::string("now");
  const int end = term::width(newest);
  if (end > columns) return;
  area.put(left ? 0 : columns - end, 0, newest, look.theme->dim);
  const int per_column = look.unicode() ? 2 : 1;
  int free = columns - end - 2;  // columns without a label, counted from the oldest end
  for (const auto &[age, label] : time_ticks(grid, columns * per_column, per_column, context.clock_times)) {
    const int width = term::width(label);
    const int x = std::max(0, columns - 1 - age / per_column - width / 2);
    if (x + width > free) continue;
    area.put(left ? columns - x - width : x, 0, label, look.theme->dim);
    free = x - 2;
  }
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// The axes of a chart: values at its sides, time below.
#pragma once

#include "metric/metric.hpp"
#include "tui/draw_context.hpp"
#include "tui/time_grid.hpp"

namespace gpulse::tui {

// What an axis says: values of this metric from 0 to `high`.
struct ValueAxis {
  const Metric *metric = nullptr;
  double high = 100;
  term::Ink ink{};
};

// Columns it takes, its line included.
int axis_columns(const ValueAxis &axis, const Look &look);
void draw_left_axis(const term::Area &area, const Look &look, const ValueAxis &axis);
void draw_right_axis(const term::Area &area, const Look &look, const ValueAxis &axis);

// One line; "now" is at its newest end, or the time of day.
void draw_time_axis(const term::Area &area, const DrawContext &context, const TimeGrid &grid);

}  // namespace gpulse::tui

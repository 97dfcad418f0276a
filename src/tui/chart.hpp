// SPDX-License-Identifier: Apache-2.0
// One chart: a legend with the current values, an axis, and the curves. Drawn by the plot panel and the details page.
#pragma once

#include <string>
#include <vector>

#include "tui/draw_context.hpp"

namespace gpulse::tui {

struct ChartCurve {
  std::string name;
  std::string value;  // the current one, as text
  PlotKey key{};
  double high = 100;  // value at the top of the chart
};

struct Chart {
  std::string title;
  std::vector<ChartCurve> curves;
  std::string top;  // label at the top of the axis: "100%", "700W"; empty: each curve has its own scale
};

inline constexpr int kChartRows = 5;  // the least that makes a readable chart
inline constexpr int kChartColumns = 30;

// The scale is the total where there is one (memory, power limit), 100 for percentages and degrees, else the highest
// value seen.
ChartCurve device_curve(const DrawContext &context, const Device &device, MetricId id);

void draw_chart(const term::Area &area, const DrawContext &context, const Chart &chart);
// As many as there is room for, in a grid.
void draw_charts(const term::Area &area, const DrawContext &context, const std::vector<Chart> &charts);

// The most samples that a chart of this width can show.
std::size_t chart_samples(int columns, const Settings &settings, bool unicode);

// `most` rounded up to 1, 2 or 5 times a power of ten (of 1024 for bytes).
double nice_scale(double most, Unit unit);

}  // namespace gpulse::tui

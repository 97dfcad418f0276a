// SPDX-License-Identifier: Apache-2.0
// One chart: a line of names and values, an axis, and the curves.
#pragma once

#include <string>
#include <vector>

#include "tui/draw_context.hpp"

namespace gpulse::tui {

struct ChartCurve {
  std::string name;
  std::string value;  // now, as text
  PlotKey key{};
  double high = 100;  // what the top of the chart stands for
};

struct Chart {
  std::string title;
  std::vector<ChartCurve> curves;
  std::string top;  // what the axis says at its top: "100%", "700W"; empty: curves have scales of their own
};

inline constexpr int kChartRows = 5;  // fewer are not worth a chart
inline constexpr int kChartColumns = 30;

// A metric of a device as a curve, at the scale that suits it: a share where there is a whole, else the most it has
// been.
ChartCurve device_curve(const DrawContext &context, const Device &device, MetricId id);

void draw_chart(const term::Area &area, const DrawContext &context, const Chart &chart);
// As many as find room, side by side and below each other.
void draw_charts(const term::Area &area, const DrawContext &context, const std::vector<Chart> &charts);

// Samples that a chart across so many columns shows at most.
std::size_t chart_samples(int columns, const Settings &settings, bool unicode);

// `most` rounded up to 1, 2 or 5 times a power of ten (of 1024 for bytes).
double nice_scale(double most, Unit unit);

}  // namespace gpulse::tui

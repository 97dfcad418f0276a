// SPDX-License-Identifier: Apache-2.0
// One chart: a legend with the current values, axes for values and time, and the curves. Drawn by the plot panel and
// the details page.
#pragma once

#include <string>
#include <vector>

#include "tui/draw_context.hpp"

namespace gpulse::tui {

struct ChartCurve {
  std::string name;
  std::string value;  // the current one, as text
  PlotKey key{};
  double high = 100;            // value at the top of the chart
  std::size_t colour = 0;       // place among the curves of the theme
  bool back = false;            // another curve is the one to look at
  std::vector<float> values{};  // in place of the history of the key
};

// The first curve matters most: it is drawn over the others. Curves of one metric share the axis at the left;
// percentages go before other units, whose first curve has its own axis at the right.
struct Chart {
  std::string title;
  std::vector<ChartCurve> curves;
};

inline constexpr int kChartRows = 6;  // with three lines of curves, the least that can be read well
inline constexpr int kChartColumns = 30;
inline constexpr int kLeastChartRows = 2;  // a legend and a line of curves

// The scale is the total where there is one (memory, power limit), 100 for percentages and degrees, else the highest
// value seen.
ChartCurve device_curve(const DrawContext &context, const Device &device, MetricId id);

// How many charts an area has room for, side by side and below each other.
struct ChartGrid {
  int across = 0;
  int down = 0;
  std::size_t shown = 0;
};
ChartGrid chart_grid(term::Size size, std::size_t charts, const Look &look);
// As many as there is room for.
void draw_charts(const term::Area &area, const DrawContext &context, const std::vector<Chart> &charts);
// "last 1m30s, 1s a dot": what the charts of such an area show.
std::string chart_span(term::Size size, const DrawContext &context, const std::vector<Chart> &charts);

// The most samples that a chart of this width can show.
std::size_t chart_samples(int columns, const Settings &settings, bool unicode);

// `most` rounded up to 1, 2 or 5 times a power of ten (of 1024 for bytes).
double nice_scale(double most, Unit unit);

}  // namespace gpulse::tui

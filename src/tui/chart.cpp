// SPDX-License-Identifier: Apache-2.0
#include "tui/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "term/plot.hpp"
#include "tui/chart_axis.hpp"
#include "view/cell.hpp"

namespace gpulse::tui {

using term::Area;

namespace {

constexpr int kRowsWithTime = 4;  // legend and two lines of curves, and time below

double most_of(std::span<const float> values) {
  double most = 0;
  for (const auto value : values) {
    if (!std::isnan(value)) most = std::max(most, static_cast<double>(value));
  }
  return most;
}

const Metric &metric_of(const ChartCurve &curve) { return describe(MetricId{curve.key.metric}); }

const term::Ink &ink_of(const ChartCurve &curve, const Look &look) {
  if (curve.back) return look.theme->border;
  return look.theme->curves[curve.colour % look.theme->curves.size()];
}

bool share_a_scale(const ChartCurve &a, const ChartCurve &b) {
  return metric_of(a).unit == metric_of(b).unit && a.high == b.high;
}

// Which curves the axes speak for; the left one first.
struct Axes {
  const ChartCurve *left = nullptr;
  const ChartCurve *right = nullptr;
};

Axes choose_axes(const Chart &chart) {
  const auto &curves = chart.curves;
  if (curves.empty()) return {};
  const auto percent =
      std::ranges::find(curves, Unit::percent, [](const ChartCurve &curve) { return metric_of(curve).unit; });
  const auto &left = percent == curves.end() ? curves.front() : *percent;
  const auto right = std::ranges::find_if(curves, [&](const ChartCurve &curve) { return !share_a_scale(curve, left); });
  return {&left, right == curves.end() ? nullptr : &*right};
}

bool has_axis(const Axes &axes, const ChartCurve &curve) {
  const auto speaks = [&](const ChartCurve *axis) { return axis != nullptr && share_a_scale(curve, *axis); };
  return speaks(axes.left) || speaks(axes.right);
}

// A curve that no axis speaks for says itself what its top is: "310W of 700W".
std::string legend_value(const Chart &chart, const ChartCurve &curve, const Look &look) {
  if (has_axis(choose_axes(chart), curve)) return curve.value;
  return fmt::format("{} of {}", curve.value, view::short_value(look.style, metric_of(curve), curve.high));
}

// Lays the legend out in lines of this width: "UTIL  ● 0 98%  ● 1 81%". Without `values` only names, for a small chart.
class Legend {
 public:
  Legend(const Area &area, const Chart &chart, const Look &look) : area_(area), chart_(chart), look_(look) {}

  // Lines it takes. Draws only what lies in the area, so that an empty one measures.
  int draw(bool values) {
    int x = chart_.title.empty() ? 0 : area_.put(0, 0, chart_.title, look_.theme->strong) + 2;
    int y = 0;
    for (const auto &curve : chart_.curves) {
      const auto name = values && !curve.name.empty() ? curve.name + " " : curve.name;
      const auto value = values ? legend_value(chart_, curve, look_) : std::string();
      const std::string_view mark = look_.unicode() ? (values ? "● " : "●") : (values ? "* " : "*");
      const int width = term::width(mark) + term::width(name) + term::width(value);
      if (x > 0 && x + width > area_.columns()) {
        x = 0;
        ++y;
      }
      x += area_.put(x, y, mark, ink_of(curve, look_));
      x += area_.put(x, y, name, look_.theme->dim);
      x += area_.put(x, y, value, curve.back ? look_.theme->dim : look_.theme->text) + (values ? 2 : 1);
    }
    return y + 1;
  }

 private:
  const Area &area_;
  const Chart &chart_;
  const Look &look_;
};

int legend_lines_allowed(int rows) {
  constexpr int kRowsWithTwo = 8, kRowsWithThree = 12;
  return rows >= kRowsWithThree ? 3 : rows >= kRowsWithTwo ? 2 : 1;
}

struct LegendPlan {
  bool values = true;
  int lines = 1;
};

LegendPlan plan_legend(const Area &area, const Chart &chart, const Look &look) {
  const auto nowhere = area.part({0, 0, area.columns(), 0});
  const int allowed = legend_lines_allowed(area.rows());
  for (const bool values : {true, false}) {
    const int lines = Legend(nowhere, chart, look).draw(values);
    if (lines <= allowed) return {values, lines};
  }
  return {false, allowed};
}

ValueAxis value_axis(const ChartCurve &curve, const term::Ink &ink) { return {&metric_of(curve), curve.high, ink}; }

void draw_curves(const Area &area, const DrawContext &context, const Chart &chart, const TimeGrid &grid) {
  std::vector<std::vector<float>> rooms(chart.curves.size());
  std::vector<term::Curve> curves;
  for (std::size_t i = chart.curves.size(); i-- > 0;) {
    const auto &curve = chart.curves[i];
    const auto values = curve.values.empty() ? context.history.values(curve.key) : std::span<const float>(curve.values);
    curves.push_back({grid.dots(values, rooms[i]), ink_of(curve, context.look), curve.high});
  }
  term::draw_plot(area, curves, {.unicode = context.look.unicode(), .newest_left = context.settings.newest_left});
}

// Where the parts of a chart lie: in columns of the axes, and in lines of legend and time.
struct ChartParts {
  int left = 0, right = 0;
  int legend = 1, time = 0;
};

ChartParts parts_of(term::Size size, const Chart &chart, const Look &look, int legend) {
  ChartParts parts{.legend = legend, .time = size.rows >= kRowsWithTime + legend - 1 ? 1 : 0};
  const auto axes = choose_axes(chart);
  if (axes.left == nullptr || size.rows < legend + 2) return parts;
  const auto fits = [&](int columns) { return parts.left + columns <= size.columns / 3; };
  const int left = axis_columns(value_axis(*axes.left, {}), look);
  if (fits(left)) parts.left = left;
  const int right = axes.right != nullptr ? axis_columns(value_axis(*axes.right, {}), look) : 0;
  if (fits(right)) parts.right = right;
  return parts;
}

void draw_chart(const Area &area, const DrawContext &context, const Chart &chart, const TimeGrid &grid,
                LegendPlan legend) {
  if (area.rows() < kLeastChartRows || chart.curves.empty()) return;
  const auto &look = context.look;
  const auto parts = parts_of({area.columns(), area.rows()}, chart, look, legend.lines);
  Legend(area.part({0, 0, area.columns(), parts.legend}), chart, look).draw(legend.values);
  const int rows = area.rows() - parts.legend - parts.time;
  const int columns = area.columns() - parts.left - parts.right;
  const auto axes = choose_axes(chart);
  const auto &dim = look.theme->dim;
  if (parts.left > 0) {
    const bool alone = axes.right == nullptr || metric_of(*axes.left).unit == Unit::percent;
    draw_left_axis(area.part({0, parts.legend, parts.left, rows}), look,
                   value_axis(*axes.left, alone ? dim : ink_of(*axes.left, look)));
  }
  if (parts.right > 0) {
    draw_right_axis(area.part({parts.left + columns, parts.legend, parts.right, rows}), look,
                    value_axis(*axes.right, ink_of(*axes.right, look)));
  }
  draw_curves(area.part({parts.left, parts.legend, columns, rows}), context, chart, grid);
  if (parts.time > 0) draw_time_axis(area.part({parts.left, area.rows() - 1, columns, 1}), context, grid);
}

TimeGrid make_grid(const DrawContext &context) {
  return {context.history.times(), context.number, context.settings.zoom};
}

term::Rect chart_place(term::Size size, const ChartGrid &grid, int number) {
  const int column = number % grid.across;
  const int row = number / grid.across;
  const int left = size.columns * column / grid.across;
  const int right = size.columns * (column + 1) / grid.across;
  const int top = size.rows * row / grid.down;
  const int bottom = size.rows * (row + 1) / grid.down;
  const int gap = column + 1 < grid.across ? 1 : 0;
  return {left, top, right - left - gap, bottom - top};
}

}  // namespace

double nice_scale(double most, Unit unit) {
  if (!(most > 0) || !std::isfinite(most)) return 1;
  const bool bytes = unit == Unit::bytes || unit == Unit::bytes_per_second;
  double base = 1;
  if (bytes) {
    while (most / base >= 1024) base *= 1024;
  }
  const double left = most / base;
  const double power = std::pow(10, std::floor(std::log10(left)));
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    if (left <= step * power * (1 + 1e-9)) return step * power * base;
  }
  return most;
}

ChartCurve device_curve(const DrawContext &context, const Device &device, MetricId id) {
  const auto &metric = describe(id);
  ChartCurve curve{.name = std::string(metric.label), .value = {}, .key = {device.id, 0, id.index}};
  const auto &reading = device.row[id];
  curve.value =
      reading ? view::short_value(context.look.style, metric, reading.value()) : std::string(context.look.style.dash());
  const auto whole = metric.role == Role::memory_used ? Role::memory_total
                     : metric.role == Role::power     ? Role::power_limit
                                                      : Role::none;
  const auto total = whole == Role::none ? Reading() : view::by_role(device.row, whole);
  if (total && total.value() > 0) {
    curve.high = total.value();
  } else if (metric.unit == Unit::percent || metric.unit == Unit::celsius) {
    curve.high = 100;
  } else {
    curve.high = nice_scale(most_of(context.history.values(curve.key)), metric.unit);
  }
  return curve;
}

ChartGrid chart_grid(term::Size size, std::size_t charts, const Look &look) {
  if (charts == 0 || size.rows < kLeastChartRows) return {};
  const int count = static_cast<int>(std::min<std::size_t>(charts, 10'000));
  const auto rows_for = [&](int charts_across) { return (count + charts_across - 1) / charts_across; };
  // Time runs sideways, so prefer few wide charts as long as they are high enough; else as many as fit.
  constexpr int kGoodRows = 10;
  // A frame must not cost a chart.
  const int columns = size.columns + (look.frame.sides ? 2 : 0);
  int across = std::clamp(rows_for(std::max(1, size.rows / kGoodRows)), 1, std::max(1, columns / kChartColumns));
  const int down = std::clamp(size.rows / kChartRows, 1, rows_for(across));
  across = std::min(across, rows_for(down));
  return {across, down, static_cast<std::size_t>(std::min(count, across * down))};
}

void draw_charts(const Area &area, const DrawContext &context, const std::vector<Chart> &charts) {
  const term::Size size{area.columns(), area.rows()};
  const auto places = chart_grid(size, charts.size(), context.look);
  if (places.shown == 0) return;
  const auto grid = make_grid(context);
  // Legends of the same height, so that the curves are level.
  std::vector<LegendPlan> legends;
  int lines = 1;
  for (std::size_t i = 0; i < places.shown; ++i) {
    const auto part = area.part(chart_place(size, places, static_cast<int>(i)));
    legends.push_back(plan_legend(part, charts[i], context.look));
    lines = std::max(lines, legends.back().lines);
  }
  for (std::size_t i = 0; i < places.shown; ++i) {
    const auto part = area.part(chart_place(size, places, static_cast<int>(i)));
    draw_chart(part, context, charts[i], grid, {legends[i].values, lines});
  }
}

std::string chart_span(term::Size size, const DrawContext &context, const std::vector<Chart> &charts) {
  const auto places = chart_grid(size, charts.size(), context.look);
  if (places.shown == 0) return {};
  const auto first = chart_place(size, places, 0);
  const auto parts = parts_of({first.columns, first.rows}, charts.front(), context.look, 1);
  const int columns = std::max(1, first.columns - parts.left - parts.right);
  const auto dot = make_grid(context).dot();
  const auto span = span_text(dot * term::plot_values(columns, context.look.unicode()));
  return fmt::format("{}{}, {} a dot", context.clock_times ? "" : "last ", span, span_text(dot));
}

std::size_t chart_samples(int columns, const Settings &settings, bool unicode) {
  return static_cast<std::size_t>(std::max(1, term::plot_values(std::max(1, columns), unicode))) *
         static_cast<std::size_t>(settings.zoom);
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
#include "tui/chart.hpp"

#include <algorithm>
#include <cmath>

#include "term/plot.hpp"
#include "view/cell.hpp"

namespace gpulse::tui {

using term::Area;

namespace {

// Means of `zoom` values each. Groups are aligned to sample numbers, so that a new sample does not regroup all of them.
std::vector<float> fold(std::span<const float> values, int zoom, std::uint64_t number) {
  std::vector<float> folded;
  const auto group = static_cast<std::uint64_t>(zoom);
  const auto first = number + 1 - std::min<std::uint64_t>(number + 1, values.size());
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) {
      sum += static_cast<double>(values[i]);
      ++count;
    }
    if ((first + i) % group + 1 == group || i + 1 == values.size()) {
      folded.push_back(count > 0 ? static_cast<float>(sum / count) : term::kGap);
      sum = 0;
      count = 0;
    }
  }
  return folded;
}

double most_of(std::span<const float> values) {
  double most = 0;
  for (const auto value : values) {
    if (!std::isnan(value)) most = std::max(most, static_cast<double>(value));
  }
  return most;
}

// "● UTIL 98%  ● SM 81%"
void draw_legend(const Area &area, const DrawContext &context, const Chart &chart) {
  const auto &look = context.look;
  int x = chart.title.empty() ? 0 : area.put(0, 0, chart.title, look.theme->strong) + 2;
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const auto &curve = chart.curves[i];
    const auto &ink = look.theme->curves[i % look.theme->curves.size()];
    const auto name = curve.name.empty() ? std::string() : curve.name + " ";
    const int width = 2 + term::width(name) + term::width(curve.value);
    if (x + width > area.columns()) {
      if (x < area.columns()) area.put(x, 0, look.style.ellipsis(), look.theme->dim);
      break;
    }
    x += area.put(x, 0, look.unicode() ? "● " : "* ", ink);
    x += area.put(x, 0, name, look.theme->dim);
    x += area.put(x, 0, curve.value, look.theme->text) + 2;
  }
}

int draw_axis(const Area &area, const Look &look, const std::string &top) {
  constexpr int kAxisColumns = 6;
  if (area.columns() < 3 * kAxisColumns || area.rows() < 3) return 0;
  const auto label = top.empty() ? std::string("100%") : top;
  area.put(0, 0, term::pad(term::cut(label, kAxisColumns - 1, ""), kAxisColumns - 1, term::Align::right),
           look.theme->dim);
  area.put(0, area.rows() - 1, term::pad("0", kAxisColumns - 1, term::Align::right), look.theme->dim);
  for (int y = 0; y < area.rows(); ++y) {
    const bool tick = y == 0 || y == area.rows() - 1;
    area.put_char(kAxisColumns - 1, y, look.unicode() ? (tick ? U'┤' : U'│') : U'|', look.theme->border);
  }
  return kAxisColumns;
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

void draw_chart(const Area &area, const DrawContext &context, const Chart &chart) {
  if (area.rows() < 2) return;
  const auto &look = context.look;
  draw_legend(area.row(0), context, chart);
  const auto below = area.part({0, 1, area.columns(), area.rows() - 1});
  const int axis = draw_axis(below, look, chart.top);
  const auto plot = below.part({axis, 0, below.columns() - axis, below.rows()});
  std::vector<std::vector<float>> folded(context.settings.zoom > 1 ? chart.curves.size() : 0);
  std::vector<term::Curve> curves;
  // The first curve matters most, so it is drawn last, over the others.
  for (std::size_t i = chart.curves.size(); i-- > 0;) {
    const auto &curve = chart.curves[i];
    auto values = context.history.values(curve.key);
    if (!folded.empty()) values = folded[i] = fold(values, context.settings.zoom, context.number);
    curves.push_back({values, look.theme->curves[i % look.theme->curves.size()], curve.high});
  }
  term::draw_plot(plot, curves, {.unicode = look.unicode(), .newest_left = context.settings.newest_left});
}

void draw_charts(const Area &area, const DrawContext &context, const std::vector<Chart> &charts) {
  if (charts.empty() || area.rows() < 2) return;
  const int count = static_cast<int>(charts.size());
  const auto rows_for = [&](int charts_across) { return (count + charts_across - 1) / charts_across; };
  // Time runs sideways, so prefer few wide charts as long as they are high enough; else as many as fit.
  constexpr int kGoodRows = 10;
  int across =
      std::clamp(rows_for(std::max(1, area.rows() / kGoodRows)), 1, std::max(1, area.columns() / kChartColumns));
  const int down = std::clamp(area.rows() / kChartRows, 1, rows_for(across));
  across = std::min(across, rows_for(down));
  const int shown = std::min(count, across * down);
  for (int i = 0; i < shown; ++i) {
    const int column = i % across;
    const int row = i / across;
    const int left = area.columns() * column / across;
    const int right = area.columns() * (column + 1) / across;
    const int top = area.rows() * row / down;
    const int bottom = area.rows() * (row + 1) / down;
    const int gap = column + 1 < across ? 1 : 0;
    draw_chart(area.part({left, top, right - left - gap, bottom - top}), context, charts[static_cast<std::size_t>(i)]);
  }
}

std::size_t chart_samples(int columns, const Settings &settings, bool unicode) {
  return static_cast<std::size_t>(std::max(1, term::plot_values(std::max(1, columns), unicode))) *
         static_cast<std::size_t>(settings.zoom);
}

}  // namespace gpulse::tui

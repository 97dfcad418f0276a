// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/moment.hpp"
#include "metric/folding.hpp"
#include "metric/format.hpp"
#include "term/plot.hpp"
#include "term/width.hpp"
#include "view/cell.hpp"
#include "view/history_parts.hpp"

namespace gpulse::view {

using term::Align;
using term::Colour;
using term::Style;

namespace {

using namespace std::chrono_literals;
using Curves = HistoryPage::Curves;

// Columns: the metric's label, the scale, its mark, the plot, the figures.
constexpr int kLabel = 8, kScale = 6, kMark = 2, kFigures = 16;
constexpr int kFewDevices = 2;

int plot_columns(const Style &style) { return std::max(10, style.width - kLabel - kScale - kMark - kFigures); }

double seconds_between(WallTime from, WallTime to) { return Seconds(to - from).count(); }

// Until when the point at this place is true.
WallTime end_of(const Curves &curves, const HistoryCurve &curve, std::size_t place, WallTime end) {
  const bool is_last = place + 1 == curve.points.size();
  const auto next = is_last ? end : curve.points[place + 1].time;
  if (curve.holds) return next;
  const auto own = curve.points[place].time + curves.step;
  return !is_last && next - curve.points[place].time <= curves.reach ? next : std::min(own, next);
}

// Words have no height: a set is there or not, a state is one of few.
bool is_number(MetricId id) { return key_of(id).kind == Kind::gauge || key_of(id).kind == Kind::counter; }

// As it is drawn.
double height(const Metric &metric, double value) {
  if (metric.kind != Kind::set) return value;
  return (set_bits(value) & ~metric.calm) == 0 ? 0 : 1;
}

// One value for each column of dots: the mean over its share of the span, a gap where nothing is known.
std::vector<float> plotted(const HistoryPage &page, const HistoryCurve &curve, int count) {
  const auto columns = static_cast<std::size_t>(std::max(count, 1));
  const double width = seconds_between(page.from, page.to) / static_cast<double>(columns);
  std::vector<double> sums(columns, 0), weights(columns, 0);
  const auto &metric = describe(curve.metric);
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const auto begin = std::max(curve.points[i].time, page.from);
    const auto end = std::min(end_of(*page.curves, curve, i, page.to), page.to);
    if (end <= begin || width <= 0) continue;
    const double first = seconds_between(page.from, begin) / width, last = seconds_between(page.from, end) / width;
    for (auto column = static_cast<std::size_t>(first); column < columns && static_cast<double>(column) < last;
         ++column) {
      const auto left = static_cast<double>(column);
      const double share = std::min(last, left + 1) - std::max(first, left);
      sums[column] += height(metric, curve.points[i].value) * share;
      weights[column] += share;
    }
  }
  std::vector<float> values(columns, term::kGap);
  for (std::size_t i = 0; i < columns; ++i) {
    // Where a point ends by rounding is nothing of the next column.
    if (weights[i] > 1e-6) values[i] = static_cast<float>(sums[i] / weights[i]);
  }
  return values;
}

struct Figures {
  double least = 0, mean = 0, greatest = 0, total = 0, last = 0;
  std::uint64_t bits = 0;
};

Figures figures_of(const HistoryPage &page, const HistoryCurve &curve) {
  Figures figures{.least = curve.points.front().least, .greatest = curve.points.front().greatest};
  double sum = 0, time = 0;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const auto &point = curve.points[i];
    figures.least = std::min(figures.least, point.least);
    figures.greatest = std::max(figures.greatest, point.greatest);
    figures.bits |= set_bits(point.value);
    figures.total += point.value;
    // A stretch that is not over yet counts as the others: how much of it is there is not known.
    const double seconds = curve.holds ? seconds_between(point.time, end_of(*page.curves, curve, i, page.to)) : 1;
    sum += point.value * seconds;
    time += seconds;
  }
  figures.mean = time > 0 ? sum / time : curve.points.back().value;
  figures.last = curve.points.back().value;
  return figures;
}

// The next number that people like to read: 1, 2, 5, 8 of its power of ten; of bytes powers of two and halves of them.
double round_up(double value, bool binary) {
  if (!(value > 0)) return 1;
  if (binary) {
    const double power = std::exp2(std::floor(std::log2(value)));
    return value <= power ? power : value <= power * 1.5 ? power * 1.5 : power * 2;
  }
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 4.0, 5.0, 8.0}) {
    if (value <= power * step) return power * step;
  }
  return power * 10;
}

// The top of the scale: the same for all devices, so that they can be compared.
double top_of(const Curves &curves, MetricId id) {
  double greatest = 0;
  for (const auto &curve : curves.curves) {
    if (curve.metric != id) continue;
    for (const auto &point : curve.points) greatest = std::max(greatest, height(describe(id), point.value));
  }
  const auto unit = describe(id).unit;
  const bool has_hundred = unit == Unit::percent || unit == Unit::celsius;
  if (has_hundred && greatest <= 100) return 100;
  return round_up(greatest, unit == Unit::bytes || unit == Unit::bytes_per_second);
}

Lines drawn(const Style &style, const std::vector<float> &values, double top, int rows) {
  term::Screen screen({plot_columns(style), rows});
  const std::array curve{term::Curve{.values = values, .ink = {}, .high = top}};
  term::draw_plot(term::Area(screen), curve, {.unicode = style.unicode, .filled = true});
  Lines lines;
  for (int y = 0; y < rows; ++y) {
    std::string line;
    for (int x = 0; x < screen.size().columns; ++x) line += screen.at(x, y).text();
    lines.push_back(std::move(line));
  }
  return lines;
}

// What stands beside a plot, from top to bottom; the greatest in the colour of its threshold.
std::vector<term::Span> figure_words(const Style &style, const Metric &metric, const Figures &figures, int rows) {
  const auto words = [&](double value) { return short_value(style, metric, value); };
  const auto range = words(figures.least) + (style.unicode ? "–" : "-") + words(figures.greatest);
  const bool is_constant = words(figures.least) == words(figures.greatest);
  const auto colour = threshold_colour(metric, figures.greatest);
  if (metric.kind == Kind::set) return {{words(static_cast<double>(figures.bits))}};
  if (metric.kind == Kind::state) return {{is_constant ? words(figures.last) : range}};
  if (fold(metric) == Fold::counter) return {{"total"}, {words(figures.total)}};
  const auto mean = "mean " + words(figures.mean);
  if (rows < 3) return {{mean, is_constant ? colour : Colour::plain}, {is_constant ? "" : range, colour}};
  return {{"max  " + words(figures.greatest), colour}, {mean}, {"min  " + words(figures.least)}};
}

struct Plot {
  const HistoryCurve &curve;
  double top;
  int rows;
};

void add_plot(const HistoryPage &page, const Plot &plot, const Style &style, Lines &lines) {
  const auto &metric = describe(plot.curve.metric);
  const auto values = plotted(page, plot.curve, term::plot_values(plot_columns(style), style.unicode));
  const auto body = drawn(style, values, plot.top, plot.rows);
  const auto words = figure_words(style, metric, figures_of(page, plot.curve), plot.rows);
  for (int row = 0; row < plot.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const auto scale = row == 0 ? short_value(style, metric, plot.top) : row + 1 == plot.rows ? "0" : "";
    const std::string label = row == 0 ? std::string(metric.label) : "";
    lines.push_back(
        term::line(style, {{term::pad(term::cut(label, kLabel, ""), kLabel)},
                           {term::pad(is_number(plot.curve.metric) ? scale : "", kScale, Align::right), Colour::dim},
                           {style.unicode ? " ┤" : " |", Colour::dim},
                           {body[at], Colour::good},
                           {" "},
                           {at < words.size() ? term::clean(words[at].text, style.unicode) : "",
                            at < words.size() ? words[at].colour : Colour::plain}}));
  }
}

constexpr std::array kTicks{1s,     2s,     5s,         10s,        15s,         30s,        60s,    120s,
                            300s,   600s,   900s,       1800s,      3600s,       7200s,      10800s, 21600s,
                            43200s, 86400s, 2 * 86400s, 7 * 86400s, 14 * 86400s, 28 * 86400s};

std::string tick_words(WallTime time, std::chrono::seconds step) {
  const bool is_midnight = local_time(time, "%H%M%S") == "000000";
  if (step >= 24h || is_midnight) return local_time(time, "%b %d");
  return local_time(time, step < 1min ? "%H:%M:%S" : "%H:%M");
}

std::string axis_line(const HistoryPage &page, const Style &style) {
  const int columns = plot_columns(style);
  const double length = seconds_between(page.from, page.to);
  auto step = kTicks.back();
  for (const auto &tick : kTicks) {
    const int room = tick < 1min ? 11 : 8;  // of a tick and its words
    if (static_cast<double>(tick.count()) / length * columns < room) continue;
    step = tick;
    break;
  }
  term::Screen screen({columns, 1});
  using std::chrono::seconds;
  const auto local = std::chrono::ceil<seconds>(page.from.time_since_epoch()) + utc_offset(page.from);
  // As local clocks show it, so that ticks stay on whole hours when the clocks are changed.
  for (auto shown = (local + step - 1s) / step * step; from_local(shown) < page.to; shown += step) {
    const auto time = from_local(shown);
    if (time < page.from) continue;
    const int x = static_cast<int>(seconds_between(page.from, time) / length * columns);
    const auto words = (style.unicode ? "╵" : "'") + tick_words(time, step);
    if (x + term::width(words) <= columns) screen.put(x, 0, words, {});
  }
  return term::line(style, {{std::string(kLabel + kScale + kMark, ' ')}, {screen.lines().front(), Colour::dim}});
}

void add_group(const HistoryPage &page, const std::vector<const HistoryCurve *> &group, const std::string &title,
               const Style &style, Lines &lines) {
  if (group.empty()) return;
  if (!lines.empty()) lines.emplace_back();
  lines.push_back(term::line(style, {{title, Colour::bold}}));
  const int rows = page.devices.size() > kFewDevices ? 2 : 3;
  for (const auto *curve : group) {
    add_plot(page, {*curve, top_of(*page.curves, curve->metric), is_number(curve->metric) ? rows : 1}, style, lines);
  }
  lines.push_back(axis_line(page, style));
}

}  // namespace

Lines history_plots(const HistoryPage &page, const Style &style) {
  Lines lines;
  const auto group_of = [&](std::optional<std::size_t> device) {
    std::vector<const HistoryCurve *> group;
    for (const auto id : page.curves->metrics) {
      for (const auto &curve : page.curves->curves) {
        const bool fits =
            device ? describe(id).scope == Scope::device && curve.device == *device : describe(id).scope == Scope::host;
        if (curve.metric == id && fits && !curve.points.empty()) group.push_back(&curve);
      }
    }
    return group;
  };
  for (std::size_t i = 0; i < page.devices.size(); ++i) {
    const auto &device = page.devices[i];
    const auto name = device.identity ? term::clean(short_name(*device.identity), style.unicode) : std::string();
    add_group(page, group_of(i), fmt::format("GPU {}  {}", text(device.id), name), style, lines);
  }
  add_group(page, group_of(std::nullopt), "Host", style, lines);
  for (const auto id : page.curves->metrics) {
    const bool is_there = std::ranges::any_of(
        page.curves->curves, [&](const HistoryCurve &curve) { return curve.metric == id && !curve.points.empty(); });
    if (is_there) continue;
    if (!lines.empty() && !lines.back().empty()) lines.emplace_back();
    lines.push_back(term::line(style, {{fmt::format("nothing is known of {} then", describe(id).key), Colour::dim}}));
  }
  return lines;
}

}  // namespace gpulse::view

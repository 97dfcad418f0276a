// SPDX-License-Identifier: Apache-2.0
#include "tui/plot_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "term/plot.hpp"
#include "tui/chart.hpp"
#include "tui/host_plots.hpp"
#include "tui/session.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

namespace {

// More curves than this cannot be told apart.
constexpr std::size_t kMostCurves = 8;
constexpr std::size_t kFewDevices = 2;

bool has(const Device &device, MetricId id) { return !device.row[id].is(Reason::not_supported); }

bool has_plot(const Device &device, const Settings &settings) {
  return std::ranges::any_of(settings.plots, [&](MetricId id) { return has(device, id); });
}

// The chosen device first, then the others in their order, then those before it.
std::vector<const Device *> chosen_first(const DrawContext &context) {
  auto devices = view::ordered_devices(context.snapshot);
  const auto at = std::ranges::find_if(devices, [&](const Device *device) { return context.device == device->id; });
  if (at != devices.end()) std::ranges::rotate(devices, at);
  return devices;
}

Chart chart_of_device(const DrawContext &context, const Device &device) {
  Chart chart{.title = fmt::format("{} {}", text(device.id), view::device_name(device, context.look.style)),
              .curves = {}};
  for (const auto id : context.settings.plots) {
    if (!has(device, id)) continue;
    auto curve = device_curve(context, device, id);
    curve.colour = chart.curves.size();
    chart.curves.push_back(std::move(curve));
  }
  return chart;
}

// Behind the first chart: seen even where there is no room for all of the others.
void add_host_charts(std::vector<Chart> &charts, const DrawContext &context) {
  auto of_host = host_charts(context);
  const auto place = charts.empty() ? charts.end() : std::next(charts.begin());
  charts.insert(place, std::make_move_iterator(of_host.begin()), std::make_move_iterator(of_host.end()));
}

void draw_per_device(const term::Area &area, const DrawContext &context, PlotCursor &cursor) {
  auto devices = chosen_first(context);
  std::erase_if(devices, [&](const Device *device) { return !has_plot(*device, context.settings); });
  const auto size = inner_size(area, context.look);
  const auto of_host = host_plot_keys(context.snapshot, context.settings).size();
  const auto room = chart_grid(size, devices.size() + of_host, context.look).shown;
  cursor.seen = std::min({devices.size(), room, std::max<std::size_t>(1, room - std::min(room, of_host))});
  if (cursor.first >= devices.size()) cursor.first = 0;
  std::vector<Chart> charts;
  const auto device = [&](std::size_t place) { return devices[(cursor.first + place) % devices.size()]; };
  for (std::size_t i = 0; i < cursor.seen; ++i) charts.push_back(chart_of_device(context, *device(i)));
  add_host_charts(charts, context);
  auto note = chart_span(size, context, charts);
  if (cursor.seen > 0 && cursor.seen < devices.size()) {
    const auto first = text(device(0)->id);
    const auto last = text(device(cursor.seen - 1)->id);
    const auto which = cursor.seen == 1 ? first : fmt::format("{} to {}", first, last);
    note = fmt::format("GPU {} of {}, ; for more   {}", which, devices.size(), note);
  }
  draw_charts(open_panel(area, context.look, "Plots", note), context, charts);
}

double highest_scale(const std::vector<ChartCurve> &curves) {
  return std::ranges::max(curves, {}, &ChartCurve::high).high;
}

// Where devices are too many for a curve each: the highest, the mean and the lowest of all, sample by sample.
class Spread {
 public:
  Spread(const DrawContext &context, const std::vector<const Device *> &devices, MetricId id) : id_(id) {
    for (const auto *device : devices) {
      add(context.history.values({device->id, 0, id.index}));
      if (const auto &reading = device->row[id]) note(reading.value(), device->id);
    }
    for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] = count_[i] > 0 ? mean_[i] / count_[i] : term::kGap;
  }

  std::vector<ChartCurve> curves(const term::Style &style, double high) const {
    if (known_ == 0) return {};
    const auto &metric = describe(id_);
    const auto value = [&](double number) { return view::short_value(style, metric, number); };
    const auto curve = [&](std::string name, std::string now, std::size_t colour, const std::vector<float> &values) {
      return ChartCurve{std::move(name), std::move(now), {{}, 0, id_.index}, high, colour, false, values};
    };
    return {curve("mean", value(sum_ / static_cast<double>(known_)), 0, mean_),
            curve("highest", fmt::format("{} GPU {}", value(highest_), text(highest_of_)), 1, most_),
            curve("lowest", fmt::format("{} GPU {}", value(lowest_), text(lowest_of_)), 2, least_)};
  }

 private:
  void add(std::span<const float> values) {
    if (mean_.size() < values.size()) {
      mean_.resize(values.size(), 0);
      count_.resize(values.size(), 0);
      most_.resize(values.size(), term::kGap);
      least_.resize(values.size(), term::kGap);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) continue;
      mean_[i] += values[i];
      ++count_[i];
      most_[i] = std::fmax(most_[i], values[i]);
      least_[i] = std::fmin(least_[i], values[i]);
    }
  }

  void note(double value, const DeviceId &device) {
    if (known_ == 0 || value > highest_) {
      highest_ = value;
      highest_of_ = device;
    }
    if (known_ == 0 || value < lowest_) {
      lowest_ = value;
      lowest_of_ = device;
    }
    sum_ += value;
    ++known_;
  }

  MetricId id_;
  std::vector<float> mean_, most_, least_, count_;
  double sum_ = 0, highest_ = 0, lowest_ = 0;
  DeviceId highest_of_, lowest_of_;
  std::size_t known_ = 0;
};

// A curve for each device in its colour; when one is chosen, the others step back.
Chart chart_of_metric(const DrawContext &context, MetricId id) {
  Chart chart{.title = std::string(describe(id).label), .curves = {}};
  const auto devices = view::ordered_devices(context.snapshot);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!has(*devices[i], id)) continue;
    auto curve = device_curve(context, *devices[i], id);
    curve.name = text(devices[i]->id);
    curve.colour = i;
    curve.back = context.device && context.device != devices[i]->id;
    chart.curves.push_back(std::move(curve));
  }
  if (chart.curves.empty()) return chart;
  const double high = highest_scale(chart.curves);
  if (chart.curves.size() > kMostCurves) {
    std::erase_if(chart.curves, [&](const ChartCurve &curve) { return context.device != curve.key.device; });
    for (auto &curve : Spread(context, devices, id).curves(context.look.style, high)) {
      curve.back = !chart.curves.empty() && !chart.curves.front().back && context.device.has_value();
      chart.curves.push_back(std::move(curve));
    }
  }
  for (auto &curve : chart.curves) curve.high = high;
  std::ranges::stable_partition(chart.curves, [](const ChartCurve &curve) { return !curve.back; });
  return chart;
}

void draw_per_metric(const term::Area &area, const DrawContext &context) {
  std::vector<Chart> charts;
  for (const auto id : context.settings.plots) {
    auto chart = chart_of_metric(context, id);
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  }
  add_host_charts(charts, context);
  const auto note = chart_span(inner_size(area, context.look), context, charts);
  draw_charts(open_panel(area, context.look, "Plots", note), context, charts);
}

}  // namespace

bool plots_together(const Snapshot &snapshot, const Settings &settings) {
  if (settings.plot_mode != PlotMode::automatic) return settings.plot_mode == PlotMode::together;
  return snapshot.devices.size() > kFewDevices;
}

std::vector<PlotKey> plot_keys(const Snapshot &snapshot, const Settings &settings) {
  std::vector<PlotKey> keys;
  for (const auto &device : snapshot.devices) {
    for (const auto id : settings.plots) {
      if (has(device, id)) keys.push_back({device.id, 0, id.index});
    }
  }
  std::ranges::move(host_plot_keys(snapshot, settings), std::back_inserter(keys));
  return keys;
}

std::size_t plotted_devices(const Snapshot &snapshot, const Settings &settings) {
  return static_cast<std::size_t>(
      std::ranges::count_if(snapshot.devices, [&](const Device &device) { return has_plot(device, settings); }));
}

std::size_t plot_count(const Snapshot &snapshot, const Settings &settings) {
  const auto of_host = host_plot_keys(snapshot, settings).size();
  if (!plots_together(snapshot, settings)) return of_host + plotted_devices(snapshot, settings);
  return of_host + static_cast<std::size_t>(std::ranges::count_if(settings.plots, [&](MetricId id) {
           return std::ranges::any_of(snapshot.devices, [&](const Device &device) { return has(device, id); });
         }));
}

void draw_plots(const term::Area &area, const DrawContext &context, PlotCursor &cursor) {
  if (plots_together(context.snapshot, context.settings)) return draw_per_metric(area, context);
  draw_per_device(area, context, cursor);
}

}  // namespace gpulse::tui

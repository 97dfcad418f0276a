// SPDX-License-Identifier: Apache-2.0
#include "tui/plot_panel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tui/chart.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

namespace {

// More curves than this cannot be told apart.
constexpr std::size_t kMostCurves = 8;
constexpr std::size_t kFewDevices = 2;

bool has(const Device &device, MetricId id) { return !device.row[id].is(Reason::not_supported); }

// The chosen device first, then the others in their order, then those before it.
std::vector<const Device *> chosen_first(const Snapshot &snapshot, const std::optional<DeviceId> &chosen) {
  auto devices = view::ordered_devices(snapshot);
  const auto at = std::ranges::find_if(devices, [&](const Device *device) { return chosen == device->id; });
  if (at != devices.end()) std::ranges::rotate(devices, at);
  return devices;
}

std::vector<Chart> charts_per_device(const DrawContext &context) {
  std::vector<Chart> charts;
  for (const auto *device : chosen_first(context.snapshot, context.device)) {
    Chart chart{.title = fmt::format("{} {}", text(device->id), view::device_name(*device, context.look.style)),
                .curves = {},
                .top = {}};
    for (const auto id : context.settings.plots) {
      if (has(*device, id)) chart.curves.push_back(device_curve(context, *device, id));
    }
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> charts_per_metric(const DrawContext &context) {
  std::vector<Chart> charts;
  const auto devices = chosen_first(context.snapshot, context.device);
  for (const auto id : context.settings.plots) {
    Chart chart{.title = std::string(describe(id).label), .curves = {}, .top = {}};
    double high = 0;
    for (const auto *device : devices) {
      if (!has(*device, id) || chart.curves.size() == kMostCurves) continue;
      auto curve = device_curve(context, *device, id);
      curve.name = text(device->id);
      high = std::max(high, curve.high);
      chart.curves.push_back(std::move(curve));
    }
    for (auto &curve : chart.curves) curve.high = high;
    chart.top = view::short_value(context.look.style, describe(id), high);
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  }
  return charts;
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
  return keys;
}

std::size_t plot_count(const Snapshot &snapshot, const Settings &settings) {
  const auto shown = [&](const Device &device) {
    return std::ranges::any_of(settings.plots, [&](MetricId id) { return has(device, id); });
  };
  if (!plots_together(snapshot, settings)) {
    return static_cast<std::size_t>(std::ranges::count_if(snapshot.devices, shown));
  }
  return static_cast<std::size_t>(std::ranges::count_if(settings.plots, [&](MetricId id) {
    return std::ranges::any_of(snapshot.devices, [&](const Device &device) { return has(device, id); });
  }));
}

void draw_plots(const term::Area &area, const DrawContext &context) {
  const bool together = plots_together(context.snapshot, context.settings);
  const auto note = context.settings.zoom > 1 ? fmt::format("{} samples a dot", context.settings.zoom) : std::string();
  const auto inner = open_panel(area, context.look, "Plots", note);
  draw_charts(inner, context, together ? charts_per_metric(context) : charts_per_device(context));
}

}  // namespace gpulse::tui

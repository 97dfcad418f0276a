// SPDX-License-Identifier: Apache-2.0
#include "tui/host_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/cell.hpp"

namespace gpulse::tui {

namespace {

double highest(const DrawContext &context, const PlotKey &key) {
  double most = 0;
  for (const auto value : context.history.values(key)) {
    if (!std::isnan(value)) most = std::max(most, static_cast<double>(value));
  }
  return most;
}

// All there is, where that is known; all of it for a share.
double scale_of(const DrawContext &context, const PlotKey &key, const Metric &metric) {
  const auto whole = metric.role == Role::host_memory ? Role::host_memory_total
                     : metric.role == Role::swap      ? Role::swap_total
                                                      : Role::none;
  const auto total = whole == Role::none ? Reading() : view::by_role(context.snapshot.host, whole);
  if (total && total.value() > 0) return total.value();
  return metric.unit == Unit::percent || metric.unit == Unit::celsius ? 100
                                                                      : nice_scale(highest(context, key), metric.unit);
}

}  // namespace

std::vector<PlotKey> host_plot_keys(const Snapshot &snapshot, const Settings &settings) {
  std::vector<PlotKey> keys;
  for (const auto id : settings.host_plots) {
    if (!snapshot.host[id].is(Reason::not_supported)) keys.push_back({{}, 0, id.index});
  }
  return keys;
}

std::vector<Chart> host_charts(const DrawContext &context) {
  std::vector<Chart> charts;
  for (const auto &key : host_plot_keys(context.snapshot, context.settings)) {
    const auto &metric = describe(MetricId{key.metric});
    const auto &reading = context.snapshot.host[MetricId{key.metric}];
    const auto &style = context.look.style;
    ChartCurve curve{.name = std::string(), .value = {}, .key = key};
    curve.value = reading ? view::short_value(style, metric, reading.value()) : std::string(style.dash());
    curve.high = scale_of(context, key, metric);
    charts.push_back({fmt::format("host {}", metric.label), {std::move(curve)}});
  }
  return charts;
}

}  // namespace gpulse::tui

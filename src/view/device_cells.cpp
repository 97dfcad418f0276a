// SPDX-License-Identifier: Apache-2.0
#include "view/device_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.hpp"
#include "insight/notices.hpp"
#include "metric/format.hpp"
#include "view/cell.hpp"

namespace gpulse::view {

using term::Cell;
using term::Colour;
using term::Span;
using term::Style;

namespace {

std::string time_in_words(Seconds duration) {
  const double seconds = duration.count();
  if (seconds < 120) return fixed(seconds, 0) + " s";
  if (seconds < 7200) return fixed(seconds / 60, 0) + " min";
  return fixed(seconds / 3600, 0) + " h";
}

}  // namespace

std::string device_name(const Device &device, const Style &style) {
  if (!device.identity) return std::string(style.dash());
  const auto &identity = *device.identity;
  if (!device.is_instance()) return term::clean(short_name(identity), style.unicode);
  const auto name = identity.label.empty() ? short_name(identity) : identity.label.str();
  return (style.unicode ? "└ " : "- ") + term::clean(name, style.unicode);
}

Cell state_cell(const Device &device) {
  std::string text(word(device.state));
  if (device.state_for.count() >= 1) text += " for " + time_in_words(device.state_for);
  return {text, device.state == DeviceState::asleep ? Colour::dim : Colour::bad};
}

Cell memory_cell(const Style &style, const Device &device) {
  const auto used = by_role(device.row, Role::memory_used);
  const auto total = by_role(device.row, Role::memory_total);
  if (used && total) return short_share(used.value(), total.value());
  if (used) return short_bytes(used.value());
  if (!total) return missing_cell(style);
  Cell cell(std::string(style.dash()), Colour::dim);
  cell.spans.push_back({"/" + short_bytes(total.value())});
  return cell;
}

Cell power_cell(const Style &style, const Device &device) {
  const auto draw = by_role(device.row, Role::power);
  const auto limit = by_role(device.row, Role::power_limit);
  if (!draw && !limit) return missing_cell(style);
  Cell cell = draw ? Cell(short_watts(draw.value())) : missing_cell(style);
  cell.spans.push_back({limit ? '/' + fixed(limit.value(), 0) + 'W' : "W", limit ? Colour::dim : Colour::plain});
  return cell;
}

Cell activity_cell(const Style &style, const Device &device) {
  Cell cell = role_cell(style, device.row, Role::true_activity);
  if (insight::seems_busier_than_it_is(device)) cell.spans.front().colour = Colour::warn;
  return cell;
}

namespace {

Span notice_span(const Style &style, const insight::Notice &notice) {
  const auto &metric = describe(notice.metric);
  const auto colour = notice.severity == Severity::critical  ? Colour::bad
                      : notice.severity == Severity::warning ? Colour::warn
                                                             : Colour::dim;
  if (notice.kind == insight::NoticeKind::held_back) return {value_words(metric, notice.value).front(), colour};
  return {fmt::format("{} {}", metric.label, short_value(style, metric, notice.value)), colour};
}

}  // namespace

Cell notices_cell(const Style &style, const Device &device) {
  Cell cell;
  for (const auto &notice : insight::notices(device)) {
    if (!cell.spans.empty()) cell.spans.push_back({", ", Colour::dim});
    cell.spans.push_back(notice_span(style, notice));
  }
  return cell;
}

namespace {

std::vector<MetricId> rank_metrics(Scope scope) {
  std::vector<MetricId> ids;
  for_each_metric(scope, [&](MetricId id, const Metric &metric) {
    if (metric.rank > 0) ids.push_back(id);
  });
  std::sort(ids.begin(), ids.end(), [](MetricId a, MetricId b) {
    return std::pair(describe(a).rank, a.index) < std::pair(describe(b).rank, b.index);
  });
  return ids;
}

}  // namespace

const std::vector<MetricId> &ranked_metrics(Scope scope) {
  static const auto kRanked = [] {
    std::array<std::vector<MetricId>, kScopes> ranked;
    for (std::size_t i = 0; i < kScopes; ++i) ranked[i] = rank_metrics(static_cast<Scope>(i));
    return ranked;
  }();
  return kRanked[static_cast<std::size_t>(scope)];
}

std::vector<const Device *> ordered_devices(const Snapshot &snapshot) {
  std::vector<const Device *> devices;
  for (const auto &device : snapshot.devices) devices.push_back(&device);
  std::sort(devices.begin(), devices.end(), [](const Device *a, const Device *b) { return a->id < b->id; });
  return devices;
}

}  // namespace gpulse::view

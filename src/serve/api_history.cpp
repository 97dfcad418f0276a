// SPDX-License-Identifier: Apache-2.0
#include "serve/api_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "serve/api_parts.hpp"
#include "serve/past.hpp"
#include "view/csv.hpp"
#include "view/json.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
// What lies this far before the newest of a history does not change any more.
constexpr auto kSettled = 2min;

// One axis of time for all series.
struct Axis {
  std::int64_t start = 0, step = 1;  // seconds
  std::size_t count = 0;

  Axis(const history::Span &span, std::chrono::seconds length) : step(std::max<std::int64_t>(1, length.count())) {
    const auto floor = [](WallTime time) {
      return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
    };
    start = floor(span.from) - floor(span.from) % step;
    const auto end = floor(span.to - 1ns);
    count = static_cast<std::size_t>((end - start) / step + 1);
  }
  // Where the time lies; `count` where it is none of the axis.
  std::size_t place(WallTime time) const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
    if (seconds < start) return count;
    return std::min(count, static_cast<std::size_t>((seconds - start) / step));
  }
};

Column on_axis(const history::Series &series, const Axis &axis) {
  Column column(axis.count);
  for (const auto &point : series.points) column.put(axis.place(point.time), point);
  return column;
}

// What is true until it changes, wherever anything was recorded at all.
Column held_on_axis(const history::Series &series, const Axis &axis, const std::vector<bool> &recorded) {
  Column column(axis.count);
  double now = kNothing;
  auto point = series.points.begin();
  auto end = series.ends.begin();
  for (std::size_t i = 0; i < axis.count; ++i) {
    const WallTime begins(std::chrono::seconds(axis.start + static_cast<std::int64_t>(i) * axis.step));
    const auto ends = begins + std::chrono::seconds(axis.step);
    double least = now, greatest = now;
    while (true) {
      const bool has_point = point != series.points.end() && point->time < ends;
      const bool has_end = end != series.ends.end() && *end < ends;
      if (!has_point && !has_end) break;
      if (has_end && (!has_point || *end < point->time)) {
        now = kNothing;
        ++end;
        continue;
      }
      now = point->value;
      // These take the other one where one is not a number.
      least = std::fmin(least, now);
      greatest = std::fmax(greatest, now);
      ++point;
    }
    if (!std::isnan(now) && recorded[i]) column.put(i, {begins, now, least, greatest});
  }
  return column;
}

void write_devices(JsonWriter &json, const KnownDevices &devices) {
  json.key("devices");
  json.begin_array();
  for (const auto *known : devices) {
    json.begin_object();
    view::write_device_names(json, {.id = known->number, .identity = known->identity});
    json.member("first", iso8601_utc(known->first));
    json.member("last", iso8601_utc(known->last));
    json.end_object();
  }
  json.end_array();
}

void write_lost(JsonWriter &json, const std::vector<history::LostSpan> &lost) {
  json.key("lost");
  json.begin_array();
  for (const auto &loss : lost) {
    json.begin_object();
    write_span(json, loss.span);
    json.member("samples", loss.samples);
    json.member("reason", loss.reason);
    json.end_object();
  }
  json.end_array();
}

// Curves, and those that tell where anything was recorded at all: of the machine, and of each device.
struct Curves {
  history::Range range;
  std::vector<MetricId> asked;
  std::optional<MetricId> of_host{}, of_device{};
};

Result<Curves> read_curves(history::Reader &reader, const HistoryQuery &query, const KnownDevices &devices) {
  history::RangeQuery asked{.span = query.span,
                            .metrics = query.metrics,
                            .devices = ids_of(devices),
                            .step = query.step,
                            .points = static_cast<std::size_t>(query.points)};
  // Where a third of the points is there ready made, they do: unpacking every sample takes thirty times as long.
  const auto ready = history::step(history::Tier::ten_seconds);
  const auto wanted = (query.span.to - query.span.from) / query.points;
  if (query.step == 0s && wanted < ready && wanted >= ready / 3) asked.step = ready;
  Curves curves{.range = {}, .asked = query.metrics};
  const auto holds = [](MetricId id) { return kept(describe(id)) == Kept::changes; };
  if (std::ranges::any_of(query.metrics, holds)) {
    curves.of_host = find_role(Scope::host, Role::cpu);
    curves.of_device = find_role(Scope::device, Role::memory_used);
    for (const auto &id : {curves.of_host, curves.of_device}) {
      if (id && std::ranges::count(asked.metrics, *id) == 0) asked.metrics.push_back(*id);
    }
  }
  auto range = reader.range(asked);
  if (!range) return std::unexpected(range.error());
  curves.range = std::move(*range);
  return curves;
}

// Where anything was recorded of the device; of one without memory of its own, of the machine.
std::vector<bool> recorded_places(const Curves &curves, const Axis &axis, std::int64_t device) {
  const auto find = [&](std::optional<MetricId> metric, std::int64_t of) {
    return std::ranges::find_if(curves.range.series, [&](const history::Series &series) {
      return series.metric == metric && series.device == of;
    });
  };
  auto series = find(curves.of_device, device);
  if (series == curves.range.series.end()) series = find(curves.of_host, 0);
  std::vector<bool> recorded(axis.count, false);
  if (series == curves.range.series.end()) return recorded;
  for (const auto &point : series->points) {
    if (const auto place = axis.place(point.time); place < axis.count) recorded[place] = true;
  }
  return recorded;
}

void write_curves(JsonWriter &json, const Curves &curves, const Axis &axis, const KnownDevices &devices) {
  const auto &range = curves.range;
  json.member("tier", word(range.tier));
  json.member("start_seconds", axis.start);
  json.member("step_seconds", axis.step);
  json.member("count", std::uint64_t{axis.count});
  json.key("series");
  json.begin_array();
  for (const auto &series : range.series) {
    if (std::ranges::count(curves.asked, series.metric) == 0) continue;
    const bool of_host = key_of(series.metric).scope == Scope::host;
    const auto place = of_host ? std::nullopt : place_of(devices, series.device);
    if (!of_host && !place) continue;
    const auto *device = place ? devices[*place] : nullptr;
    const bool holds = range.tier != history::Tier::raw && kept(describe(series.metric)) == Kept::changes;
    const auto column = holds && device != nullptr
                            ? held_on_axis(series, axis, recorded_places(curves, axis, device->id))
                            : on_axis(series, axis);
    write_series(json, series.metric, device != nullptr ? &device->identity->uuid : nullptr, column);
  }
  json.end_array();
}

}  // namespace

namespace {

// Three digits after the point where it is small; what is as large as bytes has no fraction worth sending.
double shortened(MetricId id, double value) {
  constexpr double kLarge = 1e5;
  return std::abs(value) >= kLarge ? std::round(value) : view::rounded(id, value);
}

void write_array(JsonWriter &json, std::string_view name, MetricId id, const std::vector<double> &values) {
  json.key(name);
  json.begin_array();
  for (const auto value : values) std::isnan(value) ? json.null() : json.value(shortened(id, value));
  json.end_array();
}

bool has_range(const Column &column) {
  for (std::size_t i = 0; i < column.value.size(); ++i) {
    const auto value = column.value[i];
    if (!std::isnan(value) && (column.least[i] != value || column.greatest[i] != value)) return true;
  }
  return false;
}

}  // namespace

Column::Column(std::size_t count) : value(count, kNothing), least(value), greatest(value) {}

void write_series(JsonWriter &json, MetricId id, const Text *uuid, const Column &column) {
  const auto &metric = describe(id);
  json.begin_object();
  json.member("metric", view::csv_title(id));
  json.key("device");
  uuid == nullptr ? json.null() : json.value(uuid->str());
  json.member("fold", word(fold(metric)));
  write_array(json, "value", id, column.value);
  // Bits and growth have no least and no greatest.
  const bool is_ordered = fold(metric) != Fold::any && fold(metric) != Fold::counter;
  if (is_ordered && has_range(column)) {
    write_array(json, "min", id, column.least);
    write_array(json, "max", id, column.greatest);
  }
  json.end_object();
}

void write_words(JsonWriter &json, const std::vector<MetricId> &metrics) {
  json.key("words");
  json.begin_object();
  for (const auto id : metrics) {
    if (describe(id).words.empty()) continue;
    json.key(view::csv_title(id));
    json.begin_array();
    for (const auto name : describe(id).words) json.value(name);
    json.end_array();
  }
  json.end_object();
}

Result<http::Response> history_answer(history::Reader &reader, const HistoryQuery &query) {
  const auto devices = devices_in(reader, query.span, query.devices);
  if (!devices) return no_device(devices.error());
  const auto series = static_cast<std::int64_t>(query.metrics.size() * std::max<std::size_t>(1, devices->size()));
  const auto points = query.step > 0s ? (query.span.to - query.span.from) / query.step : query.points;
  if (points * series > kMostValues) {
    return http::error(
        400, fmt::format("{} points of {} series are too many: at most {} in all", points, series, kMostValues),
        query.step > 0s ? "step" : "points");
  }
  const auto coverage = reader.coverage();
  if (!coverage) return std::unexpected(coverage.error());
  const auto curves = read_curves(reader, query, *devices);
  if (!curves) return std::unexpected(curves.error());
  const auto lost = reader.lost(query.span);
  if (!lost) return std::unexpected(lost.error());
  const auto whole = whole_of(*coverage);
  std::string body;
  JsonWriter json(body);
  begin_answer(json, "gpulse-history/1", reader.hostname(), query.span);
  json.key("kept");
  if (whole) {
    json.begin_object();
    write_span(json, *whole);
    json.end_object();
  } else {
    json.null();
  }
  write_devices(json, *devices);
  write_words(json, query.metrics);
  write_curves(json, *curves, Axis(query.span, curves->range.step), *devices);
  write_lost(json, *lost);
  json.end_object();
  const bool is_closed = whole && query.span.to + kSettled <= whole->to;
  return is_closed ? lasting_answer(std::move(body), "private, max-age=3600") : live_answer(std::move(body));
}

}  // namespace gpulse::serve

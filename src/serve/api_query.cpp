// SPDX-License-Identifier: Apache-2.0
#include "serve/api_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/moment.hpp"
#include "base/text.hpp"
#include "view/csv.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

// Until the year 2200: what is beyond is a mistake, and would overflow further on.
constexpr double kLatest = 7'258'118'400;
// What an error quotes of what was given.
constexpr std::size_t kQuoted = 60;

}  // namespace

std::unexpected<Refusal> refused(std::string_view field, std::string message) {
  return std::unexpected(Refusal{.message = std::move(message), .field = std::string(field)});
}

std::string quoted_value(std::string_view text) {
  const auto clean = printable(text);
  const auto first = first_bytes(clean, kQuoted);
  return fmt::format("'{}{}'", first, first.size() < clean.size() ? "…" : "");
}

Asked<std::int64_t> asked_number(const http::Request &request, std::string_view name, std::int64_t otherwise,
                                 std::int64_t most) {
  const auto text = request.parameter(name);
  if (!text) return otherwise;
  const auto number = parse_integer<std::int64_t>(*text);
  if (!number || *number < 1 || *number > most) {
    return refused(name, fmt::format("{} is not a whole number from 1 to {}", quoted_value(*text), most));
  }
  return *number;
}

namespace {

// The pieces of a list with commas; none where the parameter is not given.
Asked<std::optional<std::vector<std::string>>> asked_list(const http::Request &request, std::string_view name,
                                                          std::size_t most) {
  const auto text = request.parameter(name);
  if (!text) return std::nullopt;
  std::vector<std::string> pieces;
  for (const auto piece : split(*text, ',')) {
    if (trim(piece).empty()) return refused(name, "an entry of the list is empty");
    if (pieces.size() == most) return refused(name, fmt::format("at most {} at once", most));
    pieces.emplace_back(trim(piece));
  }
  return pieces;
}

std::optional<Scope> scope_of_all(std::string_view name) {
  for (const auto scope : {Scope::device, Scope::host, Scope::process}) {
    if (name == fmt::format("{}.*", word(scope))) return scope;
  }
  return std::nullopt;
}

Asked<bool> asked_flag(const http::Request &request, std::string_view name, bool otherwise) {
  const auto text = request.parameter(name);
  if (!text) return otherwise;
  if (*text == "1" || *text == "true") return true;
  if (*text == "0" || *text == "false") return false;
  return refused(name, "give 0 or 1");
}

Asked<WallTime> asked_time(const http::Request &request, std::string_view name, WallTime otherwise) {
  const auto text = request.parameter(name);
  if (!text) return otherwise;
  if (const auto time = api_time(*text)) return *time;
  return refused(name, fmt::format("{} is no time: give Unix seconds or 2026-11-16T01:00:00Z", quoted_value(*text)));
}

// "10", "10s", "5m": whole seconds.
Asked<std::chrono::seconds> asked_step(const http::Request &request) {
  const auto text = request.parameter("step");
  if (!text) return 0s;
  std::chrono::nanoseconds step{0};
  const bool is_one = parse_duration(*text, step);
  if (!is_one || step < 1s || step > 366 * 24h || step % 1s != 0ns) {
    return refused("step", fmt::format("{} is no step: give whole seconds from 1 on, 10s or 5m", quoted_value(*text)));
  }
  return std::chrono::duration_cast<std::chrono::seconds>(step);
}

Asked<std::vector<MetricId>> asked_curves(const http::Request &request) {
  const auto names = asked_list(request, "metrics", kMostMetrics);
  if (!names) return std::unexpected(names.error());
  if (!*names) return view::history_metrics();
  std::vector<MetricId> metrics;
  for (const auto &name : **names) {
    const auto id = view::find_field(name);
    if (!id)
      return refused("metrics", fmt::format("no metric {}: /api/v1/metrics-table lists them", quoted_value(name)));
    const auto scope = key_of(*id).scope;
    if (is_text(key_of(*id)) || (scope != Scope::device && scope != Scope::host))
      return refused("metrics",
                     fmt::format("{} has no curve: only numbers of devices and of the host", quoted_value(name)));
    if (std::ranges::find(metrics, *id) == metrics.end()) metrics.push_back(*id);
  }
  return metrics;
}

}  // namespace

http::Response refuse(const Refusal &refusal) { return http::error(refusal.status, refusal.message, refusal.field); }

Asked<void> check_parameters(const http::Request &request, std::initializer_list<std::string_view> known,
                             std::string_view repeated) {
  for (std::size_t i = 0; i < request.query.size(); ++i) {
    const auto &name = request.query[i].first;
    if (std::ranges::find(known, name) == known.end()) {
      return refused(printable(name),
                     fmt::format("no such parameter; there {} {}", known.size() == 1 ? "is" : "are",
                                 known.size() == 0 ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
    for (std::size_t j = 0; j < i && name != repeated; ++j) {
      if (request.query[j].first == name) return refused(name, "given twice: use commas");
    }
  }
  return {};
}

std::optional<WallTime> api_time(std::string_view text) {
  if (const auto seconds = parse_double(text)) {
    if (!(*seconds >= 0 && *seconds <= kLatest)) return std::nullopt;
    return WallTime(std::chrono::nanoseconds(std::llround(*seconds * 1e3) * 1'000'000));
  }
  // With a zone, because the one that asks may be elsewhere than the one that answers.
  std::string whole(text);
  constexpr std::size_t kDate = 10, kShortest = 17;
  if (whole.size() < kShortest || (whole[kDate] != 'T' && whole[kDate] != 't')) return std::nullopt;
  // A plus that was not escaped has become a space.
  if (const auto space = whole.find(' '); space != std::string::npos) whole[space] = '+';
  const auto zone = whole.find_last_of("Zz+-");
  if (zone == std::string::npos || zone < kDate) return std::nullopt;
  const auto time = parse_moment(whole, {});
  if (!time || *time < WallTime{} || Seconds(time->time_since_epoch()).count() > kLatest) return std::nullopt;
  return time;
}

Asked<std::optional<history::Span>> asked_span(const http::Request &request, WallTime now) {
  const auto since = request.parameter("since");
  if (!since && !request.parameter("from")) {
    if (request.parameter("to")) return refused("from", "is missing: a span has a beginning");
    return std::nullopt;
  }
  if (since && request.parameter("from")) return refused("since", "stands in place of from: give one of them");
  const auto to = asked_time(request, "to", now);
  if (!to) return std::unexpected(to.error());
  auto from = asked_time(request, "from", *to);
  if (!from) return std::unexpected(from.error());
  if (since) {
    std::chrono::nanoseconds length{0};
    if (!parse_duration(*since, length) || length <= 0ns || length > to->time_since_epoch()) {
      return refused("since", fmt::format("{} is no length of time: give 90, 30m, 12h or 7d", quoted_value(*since)));
    }
    from = *to - length;
  }
  if (*from >= *to) return refused("from", "lies at or after the end of the span");
  return history::Span{*from, *to};
}

Asked<std::vector<std::string>> asked_devices(const http::Request &request) {
  auto list = asked_list(request, "devices", kMostSelectors);
  if (!list) return std::unexpected(list.error());
  return std::move(*list).value_or(std::vector<std::string>{});
}

Asked<SampleFilter> asked_sample(const http::Request &request) {
  if (const auto good = check_parameters(request, {"metrics", "devices", "processes"}); !good)
    return std::unexpected(good.error());
  SampleFilter filter;
  const auto names = asked_list(request, "metrics", kMostMetrics);
  if (!names) return std::unexpected(names.error());
  if (*names) filter.metrics.emplace();
  for (const auto &name : names->value_or(std::vector<std::string>{})) {
    if (const auto scope = scope_of_all(name)) {
      for_each_metric(*scope, [&](MetricId id, const Metric &) { filter.metrics->add(id); });
      continue;
    }
    const auto id = view::find_field(name);
    if (!id)
      return refused("metrics", fmt::format("no metric {}: /api/v1/metrics-table lists them", quoted_value(name)));
    filter.metrics->add(*id);
  }
  auto devices = asked_devices(request);
  if (!devices) return std::unexpected(devices.error());
  filter.devices = std::move(*devices);
  const auto processes = asked_flag(request, "processes", true);
  if (!processes) return std::unexpected(processes.error());
  filter.processes = *processes;
  return filter;
}

Asked<HistoryQuery> asked_history(const http::Request &request, WallTime now) {
  const auto good = check_parameters(request, {"metrics", "devices", "from", "to", "since", "step", "points"});
  if (!good) return std::unexpected(good.error());
  HistoryQuery query;
  const auto span = asked_span(request, now);
  if (!span) return std::unexpected(span.error());
  if (!*span) return refused("from", "is missing: give from, or since=12h");
  query.span = **span;
  auto metrics = asked_curves(request);
  if (!metrics) return std::unexpected(metrics.error());
  query.metrics = std::move(*metrics);
  auto devices = asked_devices(request);
  if (!devices) return std::unexpected(devices.error());
  query.devices = std::move(*devices);
  if (request.parameter("step") && request.parameter("points")) return refused("step", "stands in place of points");
  const auto step = asked_step(request);
  if (!step) return std::unexpected(step.error());
  query.step = *step;
  const auto points = asked_number(request, "points", query.points, kMostPoints);
  if (!points) return std::unexpected(points.error());
  query.points = *points;
  if (query.step > 0s && (query.span.to - query.span.from) / query.step > kMostPoints)
    return refused("step", fmt::format("makes more than {} points of this span", kMostPoints));
  return query;
}

Asked<ProcessQuery> asked_processes(const http::Request &request, WallTime now) {
  const auto good = check_parameters(request, {"devices", "from", "to", "since", "by"});
  if (!good) return std::unexpected(good.error());
  ProcessQuery query;
  const auto span = asked_span(request, now);
  if (!span) return std::unexpected(span.error());
  query.span = *span;
  auto devices = asked_devices(request);
  if (!devices) return std::unexpected(devices.error());
  query.devices = std::move(*devices);
  if (const auto by = request.parameter("by")) {
    const auto plays = [&](Role role) { return find_metric(Scope::process, *by) == find_role(Scope::process, role); };
    if (!plays(Role::user) && !plays(Role::job)) {
      return refused("by", fmt::format("nothing is added up by {}", quoted_value(*by)));
    }
    if (!query.span) return refused("by", "adds up over a span: give from, or since=12h");
    query.by = plays(Role::user) ? view::HistoryOwner::user : view::HistoryOwner::job;
  }
  return query;
}

Asked<EventQuery> asked_events(const http::Request &request, WallTime now) {
  const auto good = check_parameters(request, {"devices", "from", "to", "since"});
  if (!good) return std::unexpected(good.error());
  const auto span = asked_span(request, now);
  if (!span) return std::unexpected(span.error());
  auto devices = asked_devices(request);
  if (!devices) return std::unexpected(devices.error());
  return EventQuery{.span = *span, .devices = std::move(*devices)};
}

}  // namespace gpulse::serve

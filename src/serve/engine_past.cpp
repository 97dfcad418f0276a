// SPDX-License-Identifier: Apache-2.0
#include "serve/engine_past.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fleet/host_past.hpp"
#include "insight/catalogue.hpp"
#include "model/select.hpp"
#include "serve/api_history.hpp"
#include "serve/api_parts.hpp"
#include "view/json.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;
using Told = SharedAsks<http::Response>::Told;

constexpr std::int64_t kMostSteps = 10'000;  // an engine gives no more at once
constexpr std::int64_t kEventSteps = 2000;
constexpr std::chrono::seconds kSettled = 2min, kClosedKept = 5min, kTroubleKept = 2s;
constexpr std::string_view kNoProcesses =
    "a metrics engine keeps who held the GPUs, not which processes: ask the host's own agent";

Told trouble(const fleet::EngineError &error) {
  return {.value = try_later(error.error.line()), .kept_for = kTroubleKept};
}

bool is_closed(const history::Span &span) { return span.to + kSettled <= wall_now(); }

std::int64_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::chrono::seconds step_of(const history::Span &span, std::int64_t points, std::chrono::seconds least) {
  const auto wanted = std::chrono::ceil<std::chrono::seconds>((span.to - span.from) / points);
  return std::max(wanted, least);
}

// What all of these need, apart from whoever asks: a copy goes to the thread that asks the engine.
struct Subject {
  fleet::EngineOptions engine;
  fleet::HostPlace host;
  std::chrono::seconds least_step;
  SnapshotPtr known;  // the newest sample; null: none

  std::string key(std::string_view what, const history::Span &span, std::chrono::seconds step,
                  const std::vector<std::string> &devices) const {
    return fmt::format("{} {}:{} {} {} {} {}", what, host.instance.size(), host.instance,
                       seconds_of(span.from) / step.count(), seconds_of(span.to) / step.count(), step.count(),
                       fmt::join(devices, ","));
  }
};

// The devices that are asked for, or why there are none.
struct Devices {
  SnapshotPtr sample{};  // null: the engine knows of none
  std::optional<Told> refusal{};
};

Devices devices_of(const Subject &subject, const history::Span &span, const std::vector<std::string> &selectors,
                   const std::stop_token &stop) {
  Devices devices{.sample = subject.known};
  if (devices.sample == nullptr) {
    auto sample = fleet::HostAsker(subject.engine, subject.host).sample(std::min(span.to, wall_now()), stop);
    if (!sample) return {.refusal = trouble(sample.error())};
    devices.sample = std::move(sample->snapshot);
  }
  if (selectors.empty()) return devices;
  const auto none = devices.sample == nullptr ? std::make_shared<const Snapshot>() : devices.sample;
  auto part = select_devices(none, selectors);
  if (!part) return {.refusal = Told{.value = no_device(part.error())}};
  return {.sample = std::move(*part)};
}

bool has_device(const Devices &devices, std::string_view uuid) {
  return devices.sample != nullptr && std::ranges::any_of(devices.sample->devices, [&](const Device &device) {
           return device.identity && device.identity->uuid.str() == printable(uuid);
         });
}

Column column_of(const fleet::HostCurve &curve, std::size_t count) {
  Column column(count);
  for (std::size_t i = 0; i < std::min(count, curve.mean.size()); ++i) {
    const double value = curve.mean[i];
    if (std::isnan(value)) continue;
    const auto other = [&](const std::vector<double> &values) {
      return i < values.size() && !std::isnan(values[i]) ? values[i] : value;
    };
    column.put(i, {.value = value, .least = other(curve.least), .greatest = other(curve.greatest)});
  }
  return column;
}

// When anything was known of a device, as far as these curves tell.
std::optional<history::Span> seen_of(const fleet::HostCurves &curves, std::string_view uuid) {
  std::optional<history::Span> seen;
  for (const auto &curve : curves.curves) {
    if (printable(curve.uuid) != uuid) continue;
    for (std::size_t i = 0; i < curve.mean.size(); ++i) {
      if (std::isnan(curve.mean[i])) continue;
      const auto end = curves.first + static_cast<std::int64_t>(i) * curves.step;
      const auto begin = end - curves.step;
      if (!seen) seen = history::Span{begin, end};
      seen->from = std::min(seen->from, WallTime(begin));
      seen->to = std::max(seen->to, WallTime(end));
    }
  }
  return seen;
}

void write_devices(JsonWriter &json, const fleet::HostCurves &curves, const Devices &devices) {
  json.key("devices");
  json.begin_array();
  for (const auto &device : devices.sample ? devices.sample->devices : std::vector<Device>()) {
    if (!device.identity) continue;
    const auto seen = seen_of(curves, device.identity->uuid.str())
                          .value_or(history::Span{devices.sample->time, devices.sample->time});
    json.begin_object();
    view::write_device_names(json, device);
    json.member("first", iso8601_utc(seen.from));
    json.member("last", iso8601_utc(seen.to));
    json.end_object();
  }
  json.end_array();
}

void write_curves(JsonWriter &json, const fleet::HostCurves &curves, const Devices &devices) {
  json.member("tier", "engine");
  json.member("start_seconds", seconds_of(curves.first - curves.step));
  json.member("step_seconds", std::int64_t{curves.step.count()});
  json.member("count", std::uint64_t{curves.count});
  json.key("series");
  json.begin_array();
  for (const auto &curve : curves.curves) {
    const bool of_host = key_of(curve.metric).scope == Scope::host;
    if (!of_host && !has_device(devices, curve.uuid)) continue;
    const Text uuid = curve.uuid;
    write_series(json, curve.metric, of_host ? nullptr : &uuid, column_of(curve, curves.count));
  }
  json.end_array();
}

Told ask_history(const Subject &subject, const HistoryQuery &query, std::chrono::seconds step,
                 const std::stop_token &stop) {
  const auto devices = devices_of(subject, query.span, query.devices, stop);
  if (devices.refusal) return *devices.refusal;
  const auto curves =
      fleet::HostAsker(subject.engine, subject.host).curves(query.span.from, query.span.to, step, query.metrics, stop);
  if (!curves) return trouble(curves.error());
  std::string body;
  JsonWriter json(body);
  begin_answer(json, "gpulse-history/1", subject.host.name.str(), query.span);
  // How far back an engine remembers is not to be had.
  json.key("kept");
  json.null();
  write_devices(json, *curves, devices);
  write_words(json, query.metrics);
  write_curves(json, *curves, devices);
  json.key("lost");
  json.begin_array();
  json.end_array();
  json.end_object();
  if (!is_closed(query.span)) return {.value = live_answer(std::move(body)), .kept_for = subject.least_step};
  return {.value = lasting_answer(std::move(body), "private, max-age=300"), .kept_for = kClosedKept};
}

Told ask_events(const Subject &subject, const EventQuery &query, const std::stop_token &stop) {
  const auto devices = devices_of(subject, *query.span, query.devices, stop);
  if (devices.refusal) return *devices.refusal;
  std::vector<Event> events;
  if (subject.host.exporter == fleet::Exporter::gpulse) {
    const auto step = step_of(*query.span, kEventSteps, subject.least_step);
    // What happened shortly before the end may be told only after it.
    const auto last = std::min<WallTime>(query.span->to + step, wall_now());
    const auto answer =
        fleet::Engine(subject.engine).range(fleet::errors_query(subject.host), query.span->from, last, step, stop);
    if (!answer) return trouble(answer.error());
    events = fleet::error_events(*answer, query.span->from, query.span->to);
  }
  std::string body;
  JsonWriter json(body);
  begin_answer(json, "gpulse-events/1", subject.host.name.str(), *query.span);
  json.key("events");
  json.begin_array();
  for (const auto &event : events) {
    if (query.devices.empty() || has_device(devices, event.device.str())) view::write_event_json(json, event);
  }
  json.end_array();
  json.end_object();
  return {.value = live_answer(std::move(body)), .kept_for = is_closed(*query.span) ? kClosedKept : subject.least_step};
}

FindingSpan span_of(const fleet::FindingStretch &stretch, std::int64_t number, bool is_now) {
  const auto kind = insight::finding_named(stretch.id.str());
  return {.number = number,
          .id = stretch.id.str(),
          .device = stretch.uuid,
          .text = kind ? Text(insight::describe(*kind).title) : stretch.id,
          .begin = stretch.begin,
          .end = stretch.end,
          .lasts = is_now && !stretch.end};
}

Told ask_findings(const Subject &subject, const EventQuery &query, const std::stop_token &stop) {
  const auto devices = devices_of(subject, *query.span, query.devices, stop);
  if (devices.refusal) return *devices.refusal;
  std::vector<fleet::FindingStretch> stretches;
  if (subject.host.exporter == fleet::Exporter::gpulse) {
    const auto step = step_of(*query.span, kEventSteps, subject.least_step);
    const auto last = std::min(query.span->to, wall_now());
    const auto answer =
        fleet::Engine(subject.engine).range(fleet::findings_query(subject.host), query.span->from, last, step, stop);
    if (!answer) return trouble(answer.error());
    stretches = fleet::finding_stretches(*answer, query.span->from, last, step);
  }
  std::string body;
  JsonWriter json(body);
  begin_answer(json, "gpulse-findings/1", subject.host.name.str(), *query.span);
  json.key("spans");
  json.begin_array();
  std::int64_t number = 0;
  for (const auto &stretch : stretches) {
    ++number;
    const bool is_wanted = query.devices.empty() || has_device(devices, stretch.uuid.str());
    if (is_wanted) write_finding_span(json, span_of(stretch, number, !is_closed(*query.span)));
  }
  json.end_array();
  json.end_object();
  return {.value = live_answer(std::move(body)), .kept_for = is_closed(*query.span) ? kClosedKept : subject.least_step};
}

class EnginePast final : public PastSource {
 public:
  EnginePast(EnginePastOptions options, const Board &board, SharedAsks<http::Response> &asks, Timer &timer)
      : options_(std::move(options)), board_(board), asks_(asks), timer_(timer) {}

  void history(HistoryQuery query, const http::Answer &answer) override {
    const auto subject = this->subject();
    const auto step = query.step > 0s ? query.step : step_of(query.span, query.points, options_.least_step);
    const auto steps = (query.span.to - query.span.from) / step;
    const auto devices =
        subject.known == nullptr ? std::size_t{1} : std::max<std::size_t>(1, subject.known->devices.size());
    const auto series = static_cast<std::int64_t>(query.metrics.size() * devices);
    if (steps > kMostSteps || steps * series > kMostValues) {
      return answer(http::error(400,
                                fmt::format("{} points of {} series are too many: at most {} of each, {} in all", steps,
                                            series, kMostSteps, kMostValues),
                                query.step > 0s ? "step" : "points"));
    }
    std::vector<std::uint16_t> metrics;
    for (const auto metric : query.metrics) metrics.push_back(metric.index);
    const auto key =
        fmt::format("history {} {}", fmt::join(metrics, ","), subject.key("", query.span, step, query.devices));
    ask(
        key,
        [subject, query = std::move(query), step](const std::stop_token &stop) {
          return ask_history(subject, query, step, stop);
        },
        answer);
  }

  void processes(ProcessQuery query, bool, const http::Answer &answer) override {
    std::string body;
    JsonWriter json(body);
    begin_answer(json, "gpulse-processes/1", options_.host.name.str(), *query.span);
    json.key(query.by ? "totals" : "processes");
    json.begin_array();
    json.end_array();
    json.member("unavailable", kNoProcesses);
    json.end_object();
    answer(live_answer(std::move(body)));
  }

  void events(EventQuery query, const http::Answer &answer) override {
    const auto subject = this->subject();
    const auto key = subject.key("events", *query.span, options_.least_step, query.devices);
    ask(
        key,
        [subject, query = std::move(query)](const std::stop_token &stop) { return ask_events(subject, query, stop); },
        answer);
  }

  void findings(EventQuery query, std::vector<insight::LastingFinding>, const http::Answer &answer) override {
    const auto subject = this->subject();
    const auto key = subject.key("findings", *query.span, options_.least_step, query.devices);
    ask(
        key,
        [subject, query = std::move(query)](const std::stop_token &stop) { return ask_findings(subject, query, stop); },
        answer);
  }

 private:
  Subject subject() const {
    return {
        .engine = options_.engine, .host = options_.host, .least_step = options_.least_step, .known = board_.latest()};
  }

  void ask(const std::string &key, SharedAsks<http::Response>::Work work, const http::Answer &answer) {
    const auto late = [place = Text(options_.engine.url.authority()), patience = options_.patience] {
      return no_answer_yet(place, patience);
    };
    const auto in = in_time(timer_, monotonic_now() + options_.patience, answer, late);
    if (!asks_.ask(key, std::move(work), in)) in(try_later("too many questions wait for the engine"));
  }

  const EnginePastOptions options_;
  const Board &board_;
  SharedAsks<http::Response> &asks_;
  Timer &timer_;
};

}  // namespace

std::unique_ptr<PastSource> engine_past(EnginePastOptions options, const Board &board, SharedAsks<http::Response> &asks,
                                        Timer &timer) {
  return std::make_unique<EnginePast>(std::move(options), board, asks, timer);
}

}  // namespace gpulse::serve

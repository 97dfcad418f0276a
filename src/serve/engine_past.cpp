// SPDX-License-Identifier: Apache-2.0
#include "serve/engine_past.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fleet/fleet_json_parts.hpp"
#include "fleet/host_past.hpp"
#include "fleet/host_samples.hpp"
#include "insight/catalogue.hpp"
#include "model/select.hpp"
#include "serve/api_history.hpp"
#include "serve/api_parts.hpp"
#include "serve/engine_ask.hpp"
#include "view/families.hpp"
#include "view/json.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;
using fleet::EngineResult;
using Told = SharedAsks<http::Response>::Told;

constexpr std::int64_t kMostSteps = 10'000;  // an engine gives no more at once
constexpr std::int64_t kEventSteps = 2000;
constexpr std::size_t kMostOwners = 10'000;
constexpr std::chrono::seconds kClosedKept = 5min;
constexpr std::chrono::seconds kTroubleKept = 5s;  // longer than a client waits before it asks again
constexpr std::string_view kNoProcesses =
    "a metrics engine keeps who held the GPUs, not which processes: ask the host's own agent";

Told trouble(const fleet::EngineError &error) {
  return {.value = try_later(error.error.line()), .kept_for = kTroubleKept};
}

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
};

// Agents alone tell what happened, and nobody does of what is to come.
bool is_told(const Subject &subject, const history::Span &span) {
  return subject.host.exporter == fleet::Exporter::gpulse && span.from < wall_now();
}

using Devices = std::vector<Device>;

bool has_device(const Devices &devices, std::string_view uuid) {
  return std::ranges::any_of(
      devices, [&](const Device &device) { return device.identity && device.identity->uuid.str() == printable(uuid); });
}

// Of those that were there in the span the names alone.
EngineResult<Devices> devices_then(const Subject &subject, const history::Span &span, const std::stop_token &stop) {
  const auto &host = subject.host;
  const bool is_own = host.exporter == fleet::Exporter::gpulse;
  const auto info = fmt::format("{}{}", view::families::kInfo, fleet::host_matchers(host));
  auto series =
      fleet::Engine(subject.engine).series(is_own ? info : fleet::sample_query(host), span.from, span.to, stop);
  if (!series) return std::unexpected(series.error());
  // As if all of them were in one sample.
  const auto at = static_cast<double>(seconds_of(span.to));
  for (auto &one : *series) one.points = {{.time = at, .value = 1}};
  const std::vector<fleet::EngineSeries> taken{{.points = {{.time = at, .value = at}}}};
  const auto samples = fleet::host_samples(*series, taken, host);
  return samples.empty() ? Devices() : samples.front().snapshot->devices;
}

// Those of the newest sample, and those that have gone since the span. Where the engine does not name these, they are
// left out.
EngineResult<Devices> devices_now_and_then(const Subject &subject, const history::Span &span,
                                           const std::stop_token &stop) {
  auto devices = subject.known == nullptr ? Devices() : subject.known->devices;
  const auto then = devices_then(subject, span, stop);
  if (!then && subject.known == nullptr) return std::unexpected(then.error());
  for (const auto &device : then ? *then : Devices()) {
    if (device.identity && !has_device(devices, device.identity->uuid.str())) devices.push_back(device);
  }
  return devices;
}

// None: they are all meant; else those that the selectors fit, or why there are none.
std::expected<std::optional<Devices>, Told> chosen_of(const Subject &subject, const history::Span &span,
                                                      const std::vector<std::string> &selectors,
                                                      const std::stop_token &stop) {
  if (selectors.empty()) return std::nullopt;
  auto devices = devices_now_and_then(subject, span, stop);
  if (!devices) return std::unexpected(trouble(devices.error()));
  const auto all = std::make_shared<Snapshot>();
  all->devices = std::move(*devices);
  const auto part = select_devices(all, selectors);
  if (!part) return std::unexpected(Told{.value = no_device(part.error()), .kept_for = kTroubleKept});
  return (*part)->devices;
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

// `now`: those that are there, whatever is known of the span; of others only those that the curves know.
void write_devices(JsonWriter &json, const fleet::HostCurves &curves, const Devices &devices, const SnapshotPtr &now) {
  json.key("devices");
  json.begin_array();
  for (const auto &device : devices) {
    if (!device.identity) continue;
    auto seen = seen_of(curves, device.identity->uuid.str());
    if (!seen && now != nullptr && has_device(now->devices, device.identity->uuid.str())) {
      seen = history::Span{now->time, now->time};
    }
    if (!seen) continue;
    json.begin_object();
    view::write_device_names(json, device);
    json.member("first", iso8601_utc(seen->from));
    json.member("last", iso8601_utc(seen->to));
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
  auto chosen = chosen_of(subject, query.span, query.devices, stop);
  if (!chosen) return chosen.error();
  const auto curves =
      fleet::HostAsker(subject.engine, subject.host).curves(query.span.from, query.span.to, step, query.metrics, stop);
  if (!curves) return trouble(curves.error());
  if (!*chosen) {
    // Mostly nothing is told of a GPU that is not there any more.
    const auto is_known = [&](const fleet::HostCurve &curve) {
      return curve.uuid.empty() || (subject.known != nullptr && has_device(subject.known->devices, curve.uuid));
    };
    if (subject.known != nullptr && std::ranges::all_of(curves->curves, is_known)) {
      *chosen = subject.known->devices;
    } else {
      auto devices = devices_now_and_then(subject, query.span, stop);
      if (!devices) return trouble(devices.error());
      *chosen = std::move(*devices);
    }
  }
  const auto &devices = **chosen;
  std::string body;
  JsonWriter json(body);
  begin_answer(json, "gpulse-history/1", subject.host.name.str(), query.span);
  // How far back an engine remembers is not to be had.
  json.key("kept");
  json.null();
  write_devices(json, *curves, devices, subject.known);
  write_words(json, query.metrics);
  write_curves(json, *curves, devices);
  json.key("lost");
  json.begin_array();
  json.end_array();
  json.end_object();
  if (!is_closed(query.span.to)) return {.value = live_answer(std::move(body)), .kept_for = subject.least_step};
  return {.value = lasting_answer(std::move(body), "private, max-age=300"), .kept_for = kClosedKept};
}

Told ask_events(const Subject &subject, const EventQuery &query, const std::stop_token &stop) {
  const auto chosen = chosen_of(subject, *query.span, query.devices, stop);
  if (!chosen) return chosen.error();
  std::vector<Event> events;
  if (is_told(subject, *query.span)) {
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
    if (!*chosen || has_device(**chosen, event.device.str())) view::write_event_json(json, event);
  }
  json.end_array();
  json.end_object();
  return {.value = live_answer(std::move(body)),
          .kept_for = is_closed(query.span->to) ? kClosedKept : subject.least_step};
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
  const auto chosen = chosen_of(subject, *query.span, query.devices, stop);
  if (!chosen) return chosen.error();
  std::vector<fleet::FindingStretch> stretches;
  if (is_told(subject, *query.span)) {
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
    const bool is_wanted = !*chosen || has_device(**chosen, stretch.uuid.str());
    if (is_wanted) write_finding_span(json, span_of(stretch, number, !is_closed(query.span->to)));
  }
  json.end_array();
  json.end_object();
  return {.value = live_answer(std::move(body)),
          .kept_for = is_closed(query.span->to) ? kClosedKept : subject.least_step};
}

void write_owner(JsonWriter &json, const fleet::EngineSeries &series, const fleet::Stretch &stretch) {
  const auto time = [&](std::string_view name, const std::optional<WallTime> &at) {
    fleet::write_text(json, name, at ? iso8601_utc(*at) : std::string());
  };
  const auto label = [&](std::string_view name) { return printable(series.label(name)); };
  json.begin_object();
  json.member("device", label("uuid"));
  fleet::write_owner_members(
      json,
      {.user = label("user"), .job = label("batch_job"), .account = label("batch_account"), .pod = label("gpu_pod")});
  time("begin", stretch.begin);
  time("end", stretch.end);
  json.end_object();
}

// Who held the devices, in place of their processes.
Told ask_owners(const Subject &subject, const ProcessQuery &query, const std::stop_token &stop) {
  const auto chosen = chosen_of(subject, *query.span, query.devices, stop);
  if (!chosen) return chosen.error();
  const auto step = step_of(*query.span, kEventSteps, subject.least_step);
  const auto last = std::min(query.span->to, wall_now());
  std::vector<fleet::EngineSeries> owners;
  if (is_told(subject, *query.span)) {
    const auto question = fmt::format("max by (uuid,user,batch_job,batch_account,gpu_pod) ({}{})",
                                      view::families::kOwner, fleet::host_matchers(subject.host));
    auto answer = fleet::Engine(subject.engine).range(question, query.span->from, last, step, stop);
    if (!answer) return trouble(answer.error());
    owners = std::move(*answer);
  }
  std::string body;
  JsonWriter json(body);
  begin_answer(json, "gpulse-processes/1", subject.host.name.str(), *query.span);
  json.key("processes");
  json.begin_array();
  json.end_array();
  json.key("owners");
  json.begin_array();
  std::size_t count = 0;
  for (const auto &series : owners) {
    if (*chosen && !has_device(**chosen, series.label("uuid"))) continue;
    for (const auto &stretch : fleet::stretches_of(series, query.span->from, last, step)) {
      if (++count <= kMostOwners) write_owner(json, series, stretch);
    }
  }
  json.end_array();
  json.member("unavailable", kNoProcesses);
  json.end_object();
  return {.value = live_answer(std::move(body)),
          .kept_for = is_closed(query.span->to) ? kClosedKept : subject.least_step};
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
        fmt::format("history {} {}", fmt::join(metrics, ","), this->key(subject, "", query.span, step, query.devices));
    ask(
        key,
        [subject, query = std::move(query), step](const std::stop_token &stop) {
          return ask_history(subject, query, step, stop);
        },
        answer);
  }

  void processes(ProcessQuery query, bool, const http::Answer &answer) override {
    if (!query.by) {
      const auto subject = this->subject();
      const auto key = this->key(subject, "owners", *query.span, options_.least_step, query.devices);
      ask(
          key,
          [subject, query = std::move(query)](const std::stop_token &stop) { return ask_owners(subject, query, stop); },
          answer);
      return;
    }
    std::string body;
    JsonWriter json(body);
    begin_answer(json, "gpulse-processes/1", options_.host.name.str(), *query.span);
    json.key("totals");
    json.begin_array();
    json.end_array();
    json.member("unavailable", kNoProcesses);
    json.end_object();
    answer(live_answer(std::move(body)));
  }

  void events(EventQuery query, const http::Answer &answer) override {
    const auto subject = this->subject();
    const auto key = this->key(subject, "events", *query.span, options_.least_step, query.devices);
    ask(
        key,
        [subject, query = std::move(query)](const std::stop_token &stop) { return ask_events(subject, query, stop); },
        answer);
  }

  void findings(EventQuery query, std::vector<insight::LastingFinding>, const http::Answer &answer) override {
    const auto subject = this->subject();
    const auto key = this->key(subject, "findings", *query.span, options_.least_step, query.devices);
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
    ask_engine(asks_, timer_, how(), key, std::move(work), answer);
  }
  EngineAsk how() const {
    return {.place = options_.engine.url.authority(), .patience = options_.patience, .whole = options_.whole};
  }
  std::string key(const Subject &subject, std::string_view what, const history::Span &span, std::chrono::seconds step,
                  const std::vector<std::string> &devices) const {
    return fmt::format("{} {} {} {} {}", what, fleet::host_matchers(subject.host), span_key(span.from, span.to, how()),
                       step.count(), fmt::join(devices, ","));
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

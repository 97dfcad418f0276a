// SPDX-License-Identifier: Apache-2.0
// Lists of what was: processes, events, findings.
#include <algorithm>
#include <map>

#include "insight/catalogue.hpp"
#include "insight/finding_events.hpp"
#include "serve/api_history.hpp"
#include "serve/api_parts.hpp"
#include "serve/past.hpp"
#include "view/json.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

// A finding that began longer before the span is not told unless it ends in it.
constexpr auto kLookBack = 24h;

bool is_of(const Event &event, const KnownDevices &devices) {
  return event.device.empty() || std::ranges::any_of(devices, [&](const history::KnownDevice *known) {
           return known->identity->uuid == event.device;
         });
}

Result<std::vector<Event>> read_events(history::Reader &reader, const history::Span &span, const EventQuery &query,
                                       const KnownDevices &devices) {
  auto events = reader.events(span);
  if (events && !query.devices.empty())
    std::erase_if(*events, [&](const Event &event) { return !is_of(event, devices); });
  return events;
}

// An agent counts findings from 1 on, so the same number is another finding's after a restart.
std::vector<FindingSpan> finding_spans(const std::vector<Event> &events,
                                       const std::vector<insight::LastingFinding> &lasting) {
  std::vector<FindingSpan> spans;
  std::map<std::int64_t, std::size_t> open;
  for (const auto &event : events) {
    const std::string id(insight::finding_word(event));
    if (event.kind == EventKind::finding) {
      open[event.code] = spans.size();
      spans.push_back(
          {.number = event.code, .id = id, .device = event.device, .text = event.text, .begin = event.time});
    } else if (event.kind == EventKind::finding_ended) {
      const auto begun = open.find(event.code);
      if (begun != open.end() && spans[begun->second].id == id) {
        spans[begun->second].end = event.time;
        open.erase(begun);
      } else {
        spans.push_back(
            {.number = event.code, .id = id, .device = event.device, .text = event.text, .end = event.time});
      }
    }
  }
  for (const auto &[number, place] : open) {
    spans[place].lasts = std::ranges::any_of(lasting, [&](const insight::LastingFinding &one) {
      return static_cast<std::int64_t>(one.number) == number && insight::word(one.finding.id) == spans[place].id;
    });
  }
  return spans;
}

void hide_commands(std::vector<view::HistoryProcess> &processes) {
  for (auto &use : processes) {
    auto texts = std::make_shared<TextRow>(*use.process.texts);
    hide_command(*texts);
    use.process.texts = std::move(texts);
  }
}

}  // namespace

void write_finding_span(JsonWriter &json, const FindingSpan &span) {
  const auto time = [&](std::string_view key, const std::optional<WallTime> &value) {
    json.key(key);
    value ? json.value(iso8601_utc(*value)) : json.null();
  };
  const auto kinds = insight::finding_kinds();
  const auto kind = std::ranges::find(kinds, span.id, &insight::FindingKind::word);
  json.begin_object();
  json.member("number", span.number);
  json.member("id", span.id);
  json.member("title", kind == kinds.end() ? std::string_view(span.id) : kind->title);
  json.key("device");
  span.device.empty() ? json.null() : json.value(span.device.str());
  time("begin", span.begin);
  time("end", span.end);
  json.member("lasts", span.lasts);
  json.member("text", span.text);
  json.end_object();
}

Result<http::Response> past_processes_answer(history::Reader &reader, const ProcessQuery &query, bool sees_commands) {
  const auto devices = devices_in(reader, *query.span, query.devices);
  if (!devices) return no_device(devices.error());
  const auto uses = reader.processes(*query.span, ids_of(*devices));
  if (!uses) return std::unexpected(uses.error());
  view::HistoryPage page;
  for (const auto *known : *devices) page.devices.push_back({.id = known->number, .identity = known->identity});
  page.processes.emplace();
  for (const auto &use : *uses) {
    const auto place = place_of(*devices, use.device);
    if (place) page.processes->push_back(past_process(use, *place, (*devices)[*place]->number));
  }
  std::string body;
  JsonWriter json(body);
  begin_answer(json, "gpulse-processes/1", reader.hostname(), *query.span);
  if (query.by) {
    json.key("totals");
    view::write_history_totals(json, page, *query.by);
  } else {
    if (!sees_commands) hide_commands(*page.processes);
    json.key("processes");
    view::write_history_processes(json, page);
  }
  json.end_object();
  return live_answer(std::move(body));
}

Result<http::Response> past_events_answer(history::Reader &reader, const EventQuery &query) {
  const auto devices = devices_in(reader, *query.span, query.devices);
  if (!devices) return no_device(devices.error());
  const auto events = read_events(reader, *query.span, query, *devices);
  if (!events) return std::unexpected(events.error());
  std::string body;
  JsonWriter json(body);
  begin_answer(json, "gpulse-events/1", reader.hostname(), *query.span);
  json.key("events");
  json.begin_array();
  for (const auto &event : *events) view::write_event_json(json, event);
  json.end_array();
  json.end_object();
  return live_answer(std::move(body));
}

Result<http::Response> past_findings_answer(history::Reader &reader, const EventQuery &query,
                                            const std::vector<insight::LastingFinding> &lasting) {
  const auto devices = devices_in(reader, *query.span, query.devices);
  if (!devices) return no_device(devices.error());
  const auto events = read_events(reader, {query.span->from - kLookBack, query.span->to}, query, *devices);
  if (!events) return std::unexpected(events.error());
  std::string body;
  JsonWriter json(body);
  begin_answer(json, "gpulse-findings/1", reader.hostname(), *query.span);
  json.key("spans");
  json.begin_array();
  for (const auto &span : finding_spans(*events, lasting)) {
    // What began before and has no end is told only while it lasts: an agent that was killed tells no end.
    const bool began_within = span.begin && *span.begin >= query.span->from;
    const bool ended_within = span.end && *span.end >= query.span->from;
    if (began_within || ended_within || span.lasts) write_finding_span(json, span);
  }
  json.end_array();
  json.end_object();
  return live_answer(std::move(body));
}

}  // namespace gpulse::serve

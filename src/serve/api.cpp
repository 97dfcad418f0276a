// SPDX-License-Identifier: Apache-2.0
#include "serve/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/select.hpp"
#include "serve/api_parts.hpp"
#include "serve/api_query.hpp"
#include "view/json.hpp"

namespace gpulse::serve {

namespace {

// Of the newest sample the part that is asked for; the answer where there is none.
std::expected<SnapshotPtr, http::Response> sample_of(const Board &board, const std::vector<std::string> &devices) {
  auto sample = board.latest();
  if (!sample) return std::unexpected(try_later("there is no sample yet", 1));
  if (devices.empty()) return sample;
  auto part = select_devices(sample, devices);
  if (!part) return std::unexpected(no_device(part.error()));
  return std::move(*part);
}

// What a live list begins with.
void write_head(JsonWriter &json, std::string_view schema, const Snapshot &sample) {
  json.member("schema", schema);
  json.member("hostname", sample.hostname);
  json.member("time", iso8601_utc(sample.time));
}

void write_device(JsonWriter &json, const Device &device) {
  json.begin_object();
  view::write_device_names(json, device);
  json.member("state", word(device.state));
  json.member("state_seconds", device.state_for.count());
  view::write_device_info(json, device);
  json.end_object();
}

http::Response live_processes(const Snapshot &sample) {
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  write_head(json, "gpulse-processes/1", sample);
  json.key("processes");
  json.begin_array();
  for (const auto &process : sample.processes) view::write_process_json(json, process);
  json.end_array();
  json.end_object();
  return live_answer(std::move(body));
}

http::Response live_events(const Snapshot &sample, bool is_part) {
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  write_head(json, "gpulse-events/1", sample);
  json.key("events");
  json.begin_array();
  for (const auto &event : sample.events) {
    const bool is_of_part = event.device.empty() || std::ranges::any_of(sample.devices, [&](const Device &device) {
                              return device.identity && device.identity->uuid == event.device;
                            });
    if (!is_part || is_of_part) view::write_event_json(json, event);
  }
  json.end_array();
  json.end_object();
  return live_answer(std::move(body));
}

http::Response live_findings(const Snapshot &sample, std::vector<insight::LastingFinding> findings) {
  std::erase_if(findings, [&](const insight::LastingFinding &one) { return !concerns(one.finding, sample); });
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  write_head(json, "gpulse-findings/1", sample);
  json.key("findings");
  json.begin_array();
  for (const auto &lasting : findings) write_lasting(json, lasting, sample.time);
  json.end_array();
  json.end_object();
  return live_answer(std::move(body));
}

}  // namespace

Api::Api(Board &board, ApiOptions options, std::unique_ptr<PastSource> past)
    : board_(board),
      options_(std::move(options)),
      past_(std::move(past)),
      stream_(board, {.version = options_.version, .now = options_.now}) {}

http::Response Api::snapshot(const http::Request &request, bool sees_commands) {
  const auto filter = asked_sample(request);
  if (!filter) return refuse(filter.error());
  auto sample = sample_of(board_, filter->devices);
  if (!sample) return sample.error();
  http::Response response;
  if (const auto age = age_of((*sample)->origin, (*sample)->time, options_.now())) {
    response.headers.emplace_back("X-Gpulse-Sample-Age", fmt::format("{:.3f}", age->count()));
  }
  if (!request.query.empty()) {
    response.body = std::make_shared<const std::string>(snapshot_text(*sample, *filter, sees_commands));
    return response;
  }
  // Most ask for everything, and of one sample all get the same text.
  const std::lock_guard lock(mutex_);
  auto &made = whole_[sees_commands ? 1 : 0];
  if (made.sample != *sample) {
    made = {.sample = *sample,
            .text = std::make_shared<const std::string>(snapshot_text(*sample, *filter, sees_commands))};
  }
  response.body = made.text;
  return response;
}

std::string Api::snapshot_text(SnapshotPtr sample, const SampleFilter &filter, bool sees_commands) const {
  if (!sees_commands) sample = without_commands(sample);
  std::vector<insight::Finding> findings;
  for (auto &lasting : board_.findings()) {
    if (concerns(lasting.finding, *sample)) findings.push_back(std::move(lasting.finding));
  }
  std::string body;
  const auto *only = filter.metrics ? &*filter.metrics : nullptr;
  view::write_json(*sample, body, {.only = only, .findings = &findings, .processes = filter.processes});
  return body;
}

http::Response Api::devices(const http::Request &request) const {
  if (const auto good = check_parameters(request, {"devices"}); !good) return refuse(good.error());
  const auto selectors = asked_devices(request);
  if (!selectors) return refuse(selectors.error());
  auto sample = sample_of(board_, *selectors);
  if (!sample) return sample.error();
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  write_head(json, "gpulse-devices/1", **sample);
  json.key("devices");
  json.begin_array();
  for (const auto &device : (*sample)->devices) write_device(json, device);
  json.end_array();
  json.end_object();
  return live_answer(std::move(body));
}

void Api::history(const http::Request &request, const http::Answer &answer) {
  auto query = asked_history(request, options_.now());
  if (!query) return answer(refuse(query.error()));
  past_->history(std::move(*query), answer);
}

void Api::processes(const http::Request &request, bool sees_commands, const http::Answer &answer) {
  auto query = asked_processes(request, options_.now());
  if (!query) return answer(refuse(query.error()));
  if (query->span) return past_->processes(std::move(*query), sees_commands, answer);
  auto sample = sample_of(board_, query->devices);
  if (!sample) return answer(std::move(sample.error()));
  answer(live_processes(sees_commands ? **sample : *without_commands(*sample)));
}

void Api::events(const http::Request &request, const http::Answer &answer) {
  auto query = asked_events(request, options_.now());
  if (!query) return answer(refuse(query.error()));
  if (query->span) return past_->events(std::move(*query), answer);
  auto sample = sample_of(board_, query->devices);
  answer(sample ? live_events(**sample, !query->devices.empty()) : std::move(sample.error()));
}

void Api::findings(const http::Request &request, const http::Answer &answer) {
  auto query = asked_events(request, options_.now());
  if (!query) return answer(refuse(query.error()));
  auto lasting = board_.findings();
  if (query->span) return past_->findings(std::move(*query), std::move(lasting), answer);
  auto sample = sample_of(board_, query->devices);
  answer(sample ? live_findings(**sample, std::move(lasting)) : std::move(sample.error()));
}

void Api::handle(const http::Request &request, bool sees_commands, const http::Answer &answer) {
  const std::string_view path = request.path;
  const auto name = path.starts_with(kApiPrefix) ? path.substr(kApiPrefix.size()) : std::string_view();
  if (name == "snapshot") return answer(snapshot(request, sees_commands));
  if (name == "devices") return answer(devices(request));
  if (name == "history") return history(request, answer);
  if (name == "processes") return processes(request, sees_commands, answer);
  if (name == "events") return events(request, answer);
  if (name == "findings") return findings(request, answer);
  if (name == "stream") return stream_.open(request, sees_commands, answer);
  if (auto table = table_answer(name, request)) return answer(std::move(*table));
  answer(http::error(404, "there is no such path: /api/v1/openapi.json lists them"));
}

}  // namespace gpulse::serve

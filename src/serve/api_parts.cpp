// SPDX-License-Identifier: Apache-2.0
#include "serve/api_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "insight/catalogue.hpp"
#include "serve/api_query.hpp"
#include "serve/openapi.hpp"
#include "view/diagnosis.hpp"
#include "view/reference.hpp"

namespace gpulse::serve {

using namespace std::chrono_literals;

http::Response live_answer(std::string body) { return {.body = std::make_shared<const std::string>(std::move(body))}; }

http::Response lasting_answer(std::string body, std::string cache_control) {
  auto etag = fmt::format("\"{:016x}\"", std::hash<std::string>{}(body));
  return {.body = std::make_shared<const std::string>(std::move(body)),
          .etag = std::move(etag),
          .cache_control = std::move(cache_control)};
}

std::optional<Seconds> age_of(const Text &origin, WallTime taken, WallTime now) {
  constexpr std::string_view kOfEngine = "FLEET";
  if (!origin.empty() && origin.str() != kOfEngine) return std::nullopt;
  return std::max<Seconds>(0s, std::chrono::round<std::chrono::milliseconds>(now - taken));
}

http::Response try_later(std::string_view message, int seconds) {
  auto response = http::error(503, message);
  response.headers.emplace_back("Retry-After", fmt::format("{}", seconds));
  return response;
}

http::Response no_answer_yet(const Text &place, std::chrono::nanoseconds patience) {
  return try_later(fmt::format("the engine at {} has not answered for {:g} s", place, Seconds(patience).count()));
}

http::Response too_many_questions() { return try_later("too many questions wait for the engine"); }

std::string too_long_words(const Text &place, std::chrono::nanoseconds limit) {
  return fmt::format("the engine at {} has not answered all of it within {:g} s: ask for less", place,
                     Seconds(limit).count());
}

std::optional<http::Response> table_answer(std::string_view name, const http::Request &request) {
  const bool is_table = name == "metrics-table";
  if (!is_table && name != "openapi.json") return std::nullopt;
  if (const auto good = check_parameters(request, {}); !good) return refuse(good.error());
  std::string body;
  if (is_table) {
    view::write_table_json(body, false);
  } else {
    body = openapi();
  }
  return lasting_answer(std::move(body), "no-cache");
}

http::Response no_device(const Error &error) { return http::error(400, error.line(), "devices"); }

void write_span(JsonWriter &json, const history::Span &span) {
  json.member("from", iso8601_utc(span.from));
  json.member("to", iso8601_utc(span.to));
}

void begin_answer(JsonWriter &json, std::string_view schema, std::string_view hostname, const history::Span &span) {
  json.begin_object();
  json.member("schema", schema);
  json.member("hostname", hostname);
  write_span(json, span);
}

void write_lasting(JsonWriter &json, const insight::LastingFinding &lasting, WallTime now) {
  json.begin_object();
  json.member("number", lasting.number);
  json.member("title", insight::describe(lasting.finding.id).title);
  json.member("cost", view::cost_words(lasting.finding));
  view::write_finding_members(json, lasting.finding, now, true);
  json.end_object();
}

bool concerns(const insight::Finding &finding, const Snapshot &part) {
  return finding.devices.empty() || std::ranges::any_of(finding.devices, [&](const DeviceId &id) {
           return std::ranges::find(part.devices, id, &Device::id) != part.devices.end();
         });
}

void hide_command(TextRow &texts) {
  if (const auto command = find_role(Scope::process, Role::command)) texts[*command] = Reason::no_permission;
}

SnapshotPtr without_commands(const SnapshotPtr &snapshot) {
  auto part = std::make_shared<Snapshot>(*snapshot);
  for (auto &process : part->processes) {
    process.arguments = nullptr;
    if (!process.texts) continue;
    auto texts = std::make_shared<TextRow>(*process.texts);
    hide_command(*texts);
    process.texts = std::move(texts);
  }
  return part;
}

}  // namespace gpulse::serve

// SPDX-License-Identifier: Apache-2.0
#include "fleet/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "http/target.hpp"

namespace gpulse::fleet {

namespace {

constexpr std::string_view kApi = "/api/v1";

std::string form_of(const http::Fields &parameters) {
  std::string out;
  for (const auto &[name, value] : parameters) {
    out += (out.empty() ? "" : "&") + http::percent_encoded(name) + "=" + http::percent_encoded(value);
  }
  return out;
}

std::string seconds_text(WallTime time) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
  return fmt::format("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
}

bool says(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](auto word) { return text.contains(word); });
}

// Begin and end of what an engine says: some repeat the whole query before they come to the cause.
std::string in_short(const std::string &words) {
  constexpr std::size_t kHead = 80, kTail = 200;
  if (words.size() <= kHead + kTail) return words;
  auto tail = std::string_view(words).substr(words.size() - kTail);
  // To the next word, so that no character is cut.
  tail.remove_prefix(std::min(tail.find(' '), tail.size()));
  return fmt::format("{} …{}", first_bytes(words, kHead), tail);
}

// Engines have one status for several things; their words tell them apart.
EngineFault fault_of(const QueryAnswer &answer) {
  static constexpr std::array<std::string_view, 6> kTooMuch{
      "too many",         "exceeded maximum resolution", "exceeds the configured",
      "exceeds -search.", "cannot select more than",     "not enough memory"};
  static constexpr std::array<std::string_view, 3> kTooLate{"timed out", "timeout", "deadline"};
  const auto words = lower(answer.error.str());
  if (answer.error_type == "timeout" || says(words, kTooLate)) return EngineFault::too_late;
  if (says(words, kTooMuch) || (words.contains("exceed") && words.contains("-search."))) return EngineFault::too_much;
  return EngineFault::bad_query;
}

}  // namespace

Result<http::Url> parse_engine_url(std::string_view text) {
  auto url = http::parse_url(text);
  if (!url) return url;
  auto path = url->target.substr(0, url->target.find('?'));
  const auto query = url->target.substr(path.size());
  path.resize(std::min(path.size(), path.find(kApi)));
  while (path.ends_with('/')) path.pop_back();
  url->target = (path.empty() ? "/" : path) + query;
  return url;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

EngineOptions in_short(EngineOptions engine) {
  constexpr std::chrono::seconds kLongest{10};
  engine.client.total_time = std::min<decltype(engine.client.total_time)>(engine.client.total_time, kLongest);
  return engine;
}

std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

Engine::Engine(EngineOptions options) : options_(std::move(options)), client_(options_.client) {}

std::string Engine::seconds_allowed() const {
  const Seconds seconds(options_.client.total_time);
  return fmt::format("{:g} s", seconds.count());
}

EngineError Engine::unreachable(const Error &error, std::chrono::nanoseconds took) const {
  if (error.what.starts_with(http::kLargerThan)) {
    return {EngineFault::too_much, {"the engine's answer is too large", "ask for a shorter time, or for less"}};
  }
  // Until it is connected there is a shorter limit.
  if (took >= options_.client.total_time) {
    return {EngineFault::too_late,
            {fmt::format("the engine at {} did not answer within {}", place(), seconds_allowed()),
             "allow it more (--url-timeout), or ask for less"}};
  }
  return {EngineFault::away, error};
}

EngineError Engine::judge(const http::ClientResponse &response, const QueryAnswer &answer) const {
  const auto status = response.status;
  if (status == 401 || status == 403) {
    return {EngineFault::refused,
            {fmt::format("the engine at {} answered {}: it does not let us ask", place(), status),
             "check the token (--url-token-file), or the user and the password"}};
  }
  if (answer.status == QueryAnswer::Status::too_much) {
    return {EngineFault::too_much,
            {"the engine's answer has too many series or values", "ask for a shorter time, or for less"}};
  }
  if (answer.status == QueryAnswer::Status::error) {
    const auto fault = fault_of(answer);
    const auto words = in_short(answer.error.empty() ? answer.error_type : answer.error);
    if (fault == EngineFault::too_late) {
      return {fault,
              {fmt::format("the engine at {} gave up on the query: {}", place(), words), "ask for a shorter time"}};
    }
    if (fault == EngineFault::too_much) {
      return {fault,
              {fmt::format("that is too much for the engine at {}: {}", place(), words), "ask for a shorter time"}};
    }
    return {fault, {fmt::format("the engine at {} refused the query: {}", place(), words), "see its log"}};
  }
  if (status == 408 || status == 504) {
    return {EngineFault::too_late,
            {fmt::format("the engine at {} answered {}: the query took too long", place(), status),
             "ask for less, or allow more where that limit is set"}};
  }
  if (status == 429) {
    return {EngineFault::too_much,
            {fmt::format("the engine at {} answered 429: too many questions", place()), "ask less often (--interval)"}};
  }
  if (status >= 500) {
    return {EngineFault::away,
            {fmt::format("the engine at {} answered {}", place(), status), "ask again later, or see its log"}};
  }
  // There may be a key behind the question mark.
  auto address = options_.url.text();
  address.erase(std::min(address.find('?'), address.size()));
  auto remedy = std::string("give what stands before /api/v1, such as http://prometheus:9090");
  if (const auto where = response.header("location"); where && status / 100 == 3) {
    remedy = fmt::format("it sends us to {}", first_bytes(printable(*where), 200));
  }
  return {EngineFault::no_engine,
          {fmt::format("{} is no engine that answers PromQL (status {})", address, status), remedy}};
}

EngineResult<QueryAnswer> Engine::ask(std::string_view what, const http::Fields &parameters, bool in_body,
                                      const std::stop_token &stop) {
  http::ClientRequest request{.method = in_body ? "POST" : "GET", .url = options_.url};
  auto &target = request.url.target;
  const auto question = target.find('?');
  auto path = target.substr(0, question);
  auto more = question == std::string::npos ? std::string() : target.substr(question);
  if (path == "/") path.clear();
  const auto form = form_of(parameters);
  if (!in_body) more += (more.empty() ? "?" : "&") + form;
  target = fmt::format("{}{}{}{}", path, kApi, what, more);
  request.headers = {{"Accept", "application/json"}};
  if (in_body) {
    request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    request.body = form;
  }
  const auto begun = monotonic_now();
  const auto response = client_.send(request, stop);
  if (!response) return std::unexpected(unreachable(response.error(), monotonic_now() - begun));
  auto answer = parse_query_answer(response->body);
  if (response->status / 100 == 2 && answer.status == QueryAnswer::Status::success) {
    if (warning_.empty()) warning_ = answer.warning;
    return answer;
  }
  return std::unexpected(judge(*response, answer));
}

namespace {

EngineResult<std::vector<EngineSeries>> series_of(EngineResult<QueryAnswer> answer) {
  if (!answer) return std::unexpected(std::move(answer.error()));
  return std::move(answer->series);
}

}  // namespace

// VictoriaMetrics moves the moments that are asked for to where its cache has them, unless it is told not to.
constexpr const char *kExactMoments = "nocache";

EngineResult<std::vector<EngineSeries>> Engine::instant(std::string_view query, WallTime at,
                                                        const std::stop_token &stop) {
  const auto timeout = fmt::format("{}ms", options_.client.total_time.count());
  return series_of(ask(
      "/query", {{"query", std::string(query)}, {"time", seconds_text(at)}, {"timeout", timeout}, {kExactMoments, "1"}},
      true, stop));
}

EngineResult<std::vector<EngineSeries>> Engine::range(std::string_view query, WallTime first, WallTime last,
                                                      std::chrono::seconds step, const std::stop_token &stop) {
  const auto timeout = fmt::format("{}ms", options_.client.total_time.count());
  return series_of(ask("/query_range",
                       {{"query", std::string(query)},
                        {"start", seconds_text(first)},
                        {"end", seconds_text(last)},
                        {"step", fmt::format("{}", step.count())},
                        {"timeout", timeout},
                        {kExactMoments, "1"}},
                       true, stop));
}

EngineResult<std::vector<EngineSeries>> Engine::series(std::string_view selector, WallTime from, WallTime to,
                                                       const std::stop_token &stop) {
  return series_of(ask("/series",
                       {{"match[]", std::string(selector)}, {"start", seconds_text(from)}, {"end", seconds_text(to)}},
                       true, stop));
}

EngineResult<std::vector<std::string>> Engine::label_values(std::string_view label, std::string_view selector,
                                                            WallTime from, WallTime to, const std::stop_token &stop) {
  // The one that engines take as GET only.
  auto answer =
      ask(fmt::format("/label/{}/values", http::percent_encoded(label)),
          {{"match[]", std::string(selector)}, {"start", seconds_text(from)}, {"end", seconds_text(to)}}, false, stop);
  if (!answer) return std::unexpected(std::move(answer.error()));
  return std::move(answer->words);
}

}  // namespace gpulse::fleet

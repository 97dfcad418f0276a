// SPDX-License-Identifier: Apache-2.0
// An engine that answers PromQL over HTTP: Prometheus, VictoriaMetrics and what speaks as they do. Each call waits for
// its answer, within a limit of time that a stop token ends sooner. One thread uses an Engine.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "fleet/query_answer.hpp"
#include "http/client.hpp"

namespace gpulse::fleet {

enum class EngineFault : std::uint8_t {
  away,       // nobody answers, or somebody who cannot ask the engine
  refused,    // a token, or a user and a password, is missing or wrong
  no_engine,  // what answers is something else
  bad_query,  // the engine does not take the question
  too_much,   // more series or values than it, or this program, handles at once
  too_late,   // it takes longer than allowed
};

struct EngineError {
  EngineFault fault = EngineFault::away;
  Error error;
};
template <class T>
using EngineResult = std::expected<T, EngineError>;

struct EngineOptions {
  http::Url url{};               // what stands before /api/v1
  http::ClientOptions client{};  // total_time: for one query, which the engine is told too
};

// Somebody waits for it.
EngineOptions in_short(EngineOptions engine);

// "http://prometheus:9090/", also as people copy it from elsewhere: with /api/v1 and what follows it.
Result<http::Url> parse_engine_url(std::string_view text);

// As a regular expression that fits this text alone.
std::string literal(std::string_view text);

// A text as PromQL writes it, with its quotes.
std::string quoted(std::string_view text);

class Engine {
 public:
  explicit Engine(EngineOptions options);

  // The value of each series at this moment.
  EngineResult<std::vector<EngineSeries>> instant(std::string_view query, WallTime at,
                                                  const std::stop_token &stop = {});
  // Values from the first moment to the last, a step apart.
  EngineResult<std::vector<EngineSeries>> range(std::string_view query, WallTime first, WallTime last,
                                                std::chrono::seconds step, const std::stop_token &stop = {});
  // The label sets of all series that had values in this time, or somewhat before or after it.
  EngineResult<std::vector<EngineSeries>> series(std::string_view selector, WallTime from, WallTime to,
                                                 const std::stop_token &stop = {});
  // The values of a label among such series.
  EngineResult<std::vector<std::string>> label_values(std::string_view label, std::string_view selector, WallTime from,
                                                      WallTime to, const std::stop_token &stop = {});

  // As people know it.
  Text place() const { return options_.url.authority(); }
  // What the engine said of answers in which something is missing, the first time since it was forgotten; empty:
  // nothing.
  const Text &warning() const { return warning_; }
  void forget_warning() { warning_ = {}; }

 private:
  EngineResult<QueryAnswer> ask(std::string_view what, const http::Fields &parameters, bool in_body,
                                const std::stop_token &stop);
  EngineError judge(const http::ClientResponse &response, const QueryAnswer &answer) const;
  EngineError unreachable(const Error &error, std::chrono::nanoseconds took) const;
  std::string seconds_allowed() const;

  EngineOptions options_;
  http::Client client_;
  Text warning_{};
};

}  // namespace gpulse::fleet

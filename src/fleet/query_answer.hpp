// SPDX-License-Identifier: Apache-2.0
// What an engine answers to a query, from its JSON: bounded in series and values, whatever the engine says. Labels are
// as they came and go through Text before anybody sees them. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "fleet/series.hpp"

namespace gpulse::fleet {

struct EnginePoint {
  double time = 0;   // seconds since 1970
  double value = 0;  // may be not a number, or infinite
};

struct EngineSeries {
  std::vector<Label> labels{};
  std::vector<EnginePoint> points{};  // in the order of the answer

  // Empty: there is no such label.
  std::string_view label(std::string_view name) const;
};

struct QueryAnswer {
  enum class Status : unsigned char { success, error, not_an_answer, too_much };
  Status status = Status::not_an_answer;
  Text error_type{}, error{};          // the engine's own words
  Text warning{};                      // the first one: something is missing from the answer
  std::vector<EngineSeries> series{};  // of a query, or of /series without points
  std::vector<std::string> words{};    // of /label/…/values
};

struct AnswerLimits {
  std::size_t series = 300'000;
  std::size_t values = 4'000'000;  // points, or labels
};

QueryAnswer parse_query_answer(std::string_view json, const AnswerLimits &limits = {});

}  // namespace gpulse::fleet

// SPDX-License-Identifier: Apache-2.0
#include "serve/fleet_query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kUsualCurvePoints = 300;
constexpr auto kLongestCurve = 366 * 24h;

// Which of the words it is; `otherwise` where none is given.
template <class Words>
Asked<std::size_t> asked_word(const http::Request &request, std::string_view name, const Words &words,
                              std::size_t otherwise) {
  const auto text = request.parameter(name);
  if (!text) return otherwise;
  const auto found = std::ranges::find(words, *text);
  if (found == words.end()) {
    return refused(name, fmt::format("{} is not one of {}", quoted_value(*text), fmt::join(words, ", ")));
  }
  return static_cast<std::size_t>(found - words.begin());
}

Asked<fleet::FleetQuestion> asked_question(const http::Request &request) {
  fleet::FleetQuestion question;
  const auto by = asked_word(request, "by", fleet::kFleetBy, static_cast<std::size_t>(question.by));
  if (!by) return std::unexpected(by.error());
  question.by = static_cast<fleet::FleetBy>(*by);
  const auto sort = asked_word(request, "sort", fleet::kFleetSorts, static_cast<std::size_t>(question.sort));
  if (!sort) return std::unexpected(sort.error());
  question.sort = static_cast<fleet::FleetSort>(*sort);
  std::size_t length = 0;
  for (const auto &[name, text] : request.query) {
    if (name != "filter") continue;
    length += text.size();
    if (length > kLongestFilters) return refused(name, "makes too many words together");
    if (question.filters.size() == kMostFilters) return refused(name, fmt::format("at most {} at once", kMostFilters));
    if (text.size() > kLongestFilter) return refused(name, fmt::format("{} is too long", quoted_value(text)));
    auto filter = fleet::parse_fleet_filter(text);
    if (!filter) return refused(name, filter.error().line());
    question.filters.push_back(std::move(*filter));
  }
  return question;
}

}  // namespace

Asked<FleetAsked> asked_fleet(const http::Request &request, WallTime now) {
  const auto good = check_parameters(request, {"by", "sort", "filter", "at"}, "filter");
  if (!good) return std::unexpected(good.error());
  auto question = asked_question(request);
  if (!question) return std::unexpected(question.error());
  FleetAsked asked{.question = std::move(*question)};
  if (const auto text = request.parameter("at")) {
    asked.at = api_time(*text);
    if (!asked.at) {
      return refused("at",
                     fmt::format("{} is no time: give Unix seconds or 2026-11-16T01:00:00Z", quoted_value(*text)));
    }
    if (*asked.at > now) return refused("at", "lies in the future");
    // So that those who look at the same moment share an answer.
    asked.at = std::chrono::floor<std::chrono::seconds>(*asked.at);
  }
  return asked;
}

Asked<FleetCurvesAsked> asked_fleet_curves(const http::Request &request, WallTime now) {
  const auto good = check_parameters(request, {"by", "sort", "filter", "from", "to", "since", "points"}, "filter");
  if (!good) return std::unexpected(good.error());
  auto question = asked_question(request);
  if (!question) return std::unexpected(question.error());
  const auto span = asked_span(request, now);
  if (!span) return std::unexpected(span.error());
  if (!*span) return refused("from", "is missing: give from, or since=12h");
  if ((*span)->to - (*span)->from > kLongestCurve) return refused("from", "makes more than a year");
  const auto points = asked_number(request, "points", kUsualCurvePoints, kMostCurvePoints);
  if (!points) return std::unexpected(points.error());
  return FleetCurvesAsked{
      .question = std::move(*question), .span = **span, .points = static_cast<std::size_t>(*points)};
}

std::string key_of(const fleet::FleetQuestion &question) {
  auto key = fmt::format("{} {}", static_cast<int>(question.by), static_cast<int>(question.sort));
  // Neither a word nor a value of a filter can be told from what follows it but by its length.
  for (const auto &filter : question.filters) {
    key += fmt::format(" {}={}:{}", filter.word, filter.value.size(), filter.value);
  }
  return key;
}

}  // namespace gpulse::serve

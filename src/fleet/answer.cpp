// SPDX-License-Identifier: Apache-2.0
#include "fleet/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "base/text.hpp"

namespace gpulse::fleet {

namespace {

constexpr std::size_t kMostWords = 200;
constexpr std::chrono::seconds kLongestWait{600};

// Engines that pass samples on to others give these a status of the server's own faults.
bool names_bad_samples(std::string_view body) {
  static constexpr std::array<std::string_view, 6> kSaid{"out of order",        "out of bounds",    "too old",
                                                         "too far in the past", "duplicate sample", "out-of-order"};
  return std::ranges::any_of(kSaid, [&](auto said) { return body.contains(said); });
}

Verdict verdict_of(int status, std::string_view body) {
  if (status >= 200 && status < 300) return Verdict::taken;
  if (status == 400 || status == 409 || status == 422) return Verdict::refused;
  if (status == 413) return Verdict::too_large;
  if (status == 408 || status == 425 || status == 429) return Verdict::later;
  if (status >= 500) return names_bad_samples(body) ? Verdict::refused : Verdict::later;
  return Verdict::wrong;
}

std::chrono::seconds asked_wait(std::string_view text, std::chrono::sys_seconds now) {
  auto seconds = parse_integer<std::int64_t>(text);
  if (const auto until = http::parse_http_date(text); !seconds && until) seconds = (*until - now).count();
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds.value_or(0), 0, kLongestWait.count()));
}

std::string words_of(const http::ClientResponse &response) {
  const std::string_view body(response.body);
  auto line = body.substr(0, std::min(body.find_first_of("\r\n"), kMostWords));
  return line.empty() ? fmt::format("status {}", response.status) : fmt::format("status {}: {}", response.status, line);
}

}  // namespace

Answer judge(const http::ClientResponse &response, std::chrono::sys_seconds now) {
  Answer answer{.verdict = verdict_of(response.status, response.body)};
  if (const auto date = response.header("date")) answer.clock = http::parse_http_date(*date);
  if (answer.verdict == Verdict::taken) return answer;
  answer.words = words_of(response);
  if (const auto wait = response.header("retry-after")) answer.wait = asked_wait(*wait, answer.clock.value_or(now));
  return answer;
}

}  // namespace gpulse::fleet

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "http/client.hpp"

namespace gpulse::http {

namespace {

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// So many digits and nothing else.
std::optional<unsigned> digits(std::string_view text, std::size_t count) {
  if (text.size() != count || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  return parse_integer<unsigned>(text);
}

}  // namespace

// The only form that may still be sent; the two older ones have gone with the servers that sent them.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) {
  const auto words = split_words(text);
  if (words.size() != 6 || words[0].size() != 4 || words[0][3] != ',' || words[5] != "GMT") return std::nullopt;
  const auto month = std::ranges::find(kMonths, words[2]);
  const auto day = digits(words[1], 2);
  const auto year = digits(words[3], 4);
  const auto clock = split(words[4], ':');
  if (clock.size() != 3 || month == kMonths.end() || !day || !year) return std::nullopt;
  const auto hour = digits(clock[0], 2);
  const auto minute = digits(clock[1], 2);
  const auto second = digits(clock[2], 2);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
                                         std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

}  // namespace gpulse::http

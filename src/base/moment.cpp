// SPDX-License-Identifier: Apache-2.0
#include "base/moment.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>

#include "base/text.hpp"

namespace gpulse {

namespace {

using namespace std::chrono;
using namespace std::chrono_literals;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes as many digits off the text; none if there are fewer.
std::optional<int> take_digits(std::string_view &text, std::size_t count) {
  if (text.size() < count || !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count), is_digit))
    return std::nullopt;
  const auto number = parse_integer<int>(text.substr(0, count));
  text.remove_prefix(count);
  return number;
}

bool take(std::string_view &text, std::string_view word) {
  if (!lower(text.substr(0, word.size())).starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// "2026-11-16"; what it takes off the text is lost if it is none.
std::optional<sys_days> take_date(std::string_view &text) {
  const auto year_number = take_digits(text, 4);
  if (!year_number || !take(text, "-")) return std::nullopt;
  const auto month_number = take_digits(text, 2);
  if (!month_number || !take(text, "-")) return std::nullopt;
  const auto day_number = take_digits(text, 2);
  if (!day_number) return std::nullopt;
  const year_month_day date{year{*year_number}, month{static_cast<unsigned>(*month_number)},
                            day{static_cast<unsigned>(*day_number)}};
  // Nanoseconds reach from 1678 to 2262.
  constexpr int kFirstYear = 1970, kLastYear = 2261;
  if (!date.ok() || *year_number < kFirstYear || *year_number > kLastYear) return std::nullopt;
  return sys_days{date};
}

// ".5" behind the seconds.
std::optional<nanoseconds> take_fraction(std::string_view &text) {
  if (!take(text, ".")) return 0ns;
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  const auto fraction =
      digits == 0 || digits > 9 ? std::nullopt : parse_double("0." + std::string(text.substr(0, digits)));
  if (!fraction) return std::nullopt;
  text.remove_prefix(digits);
  return nanoseconds(std::llround(*fraction * 1e9));
}

// "01:00", "01:00:30.5", "24:00".
std::optional<nanoseconds> take_clock(std::string_view &text) {
  auto hour = take_digits(text, 2);
  if (!hour) hour = take_digits(text, 1);
  if (!hour || !take(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute) return std::nullopt;
  int second = 0;
  nanoseconds fraction{};
  if (take(text, ":")) {
    const auto seconds_of_it = take_digits(text, 2);
    if (!seconds_of_it) return std::nullopt;
    second = *seconds_of_it;
    const auto rest = take_fraction(text);
    if (!rest) return std::nullopt;
    fraction = *rest;
  }
  if (*hour > 24 || *minute > 59 || second > 59) return std::nullopt;
  const auto time = hours(*hour) + minutes(*minute) + seconds(second) + fraction;
  return time <= 24h ? std::optional(time) : std::nullopt;
}

// "Z", "UTC", "+02:00", "-0530", "+1"; none if it is anything else.
std::optional<seconds> parse_zone(std::string_view text) {
  if (lower(text) == "z" || lower(text) == "utc") return 0s;
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  auto hour = take_digits(text, 2);
  if (!hour) hour = take_digits(text, 1);
  if (!hour) return std::nullopt;
  int minute = 0;
  if (!text.empty()) {
    take(text, ":");
    const auto minutes_of_it = take_digits(text, 2);
    if (!minutes_of_it) return std::nullopt;
    minute = *minutes_of_it;
  }
  if (!text.empty() || *hour > 15 || minute > 59) return std::nullopt;
  return sign * (hours(*hour) + minutes(minute));
}

// A day and a time of it, as some clock shows them.
struct Shown {
  std::optional<int> back;  // so many days before today
  std::optional<sys_days> date;
  std::optional<nanoseconds> clock;
  std::optional<seconds> zone;  // none: local time

  bool has_day() const { return back || date; }
  WallTime moment(sys_days day) const {
    const auto since_epoch = duration_cast<nanoseconds>(day.time_since_epoch()) + clock.value_or(0ns);
    if (zone) return WallTime(since_epoch - *zone);
    const auto whole = floor<seconds>(since_epoch);
    return from_local(whole) + (since_epoch - whole);
  }
  sys_days day_of(WallTime time) const { return floor<days>(time + (zone ? *zone : utc_offset(time))); }
};

std::optional<Shown> parse_shown(std::string_view text) {
  Shown shown{};
  if (take(text, "yesterday")) {
    shown.back = 1;
  } else if (take(text, "today")) {
    shown.back = 0;
  } else if (text.size() > 4 && text[4] == '-') {
    shown.date = take_date(text);
    if (!shown.date) return std::nullopt;
  }
  if (shown.has_day()) {
    if (text.empty()) return shown;
    if (text.front() != ' ' && !(shown.date && take(text, "t"))) return std::nullopt;
  }
  text = trim(text);
  shown.clock = take_clock(text);
  if (!shown.clock) return std::nullopt;
  text = trim(text);
  if (text.empty()) return shown;
  shown.zone = parse_zone(text);
  return shown.zone ? std::optional(shown) : std::nullopt;
}

}  // namespace

seconds utc_offset(WallTime time) {
  const std::time_t moment = floor<seconds>(time).time_since_epoch().count();
  std::tm parts{};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes TZ
  ::tzset();
  return ::localtime_r(&moment, &parts) == nullptr ? 0s : seconds(parts.tm_gmtoff);
}

WallTime from_local(seconds local) {
  const WallTime shown{local};
  // No zone changes its clocks twice within two days.
  const auto before = utc_offset(shown - 24h), after = utc_offset(shown + 24h);
  const auto first = shown - std::max(before, after), second = shown - std::min(before, after);
  for (const auto &moment : {first, second}) {
    if (moment + utc_offset(moment) == shown) return moment;
  }
  return shown - before;
}

std::optional<WallTime> parse_moment(std::string_view text, WallTime now, std::optional<WallTime> after) {
  text = trim(text);
  if (lower(text) == "now") return now;
  if (text.starts_with('-')) {
    nanoseconds ago{};
    return parse_duration(text.substr(1), ago) ? std::optional(now - ago) : std::nullopt;
  }
  if (text.starts_with('@')) {
    nanoseconds since_epoch{};
    // A plain number of seconds, up to the year 2261.
    const auto number = parse_double(text.substr(1));
    if (!number || !std::isfinite(*number) || *number < 0 || *number > 9.2e9) return std::nullopt;
    since_epoch = nanoseconds(std::llround(*number * 1e9));
    return WallTime(since_epoch);
  }
  const auto shown = parse_shown(text);
  if (!shown) return std::nullopt;
  if (shown->date) return shown->moment(*shown->date);
  if (shown->back) return shown->moment(shown->day_of(now) - days(*shown->back));
  if (!after) {
    const auto today = shown->moment(shown->day_of(now));
    return today <= now ? today : shown->moment(shown->day_of(now) - days(1));
  }
  const auto same_day = shown->moment(shown->day_of(*after));
  return same_day > *after ? same_day : shown->moment(shown->day_of(*after) + days(1));
}

}  // namespace gpulse

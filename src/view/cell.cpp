// SPDX-License-Identifier: Apache-2.0
#include "view/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "metric/format.hpp"

namespace gpulse::view {

using term::Cell;
using term::Colour;
using term::Style;

namespace {

struct Scaled {
  double number;
  char letter;  // '\0' for bytes
};

constexpr std::string_view kLetters{"\0KMGTPE", 7};

Scaled scale(double bytes) {
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < kLetters.size()) {
    bytes /= 1024;
    ++unit;
  }
  return {bytes, kLetters[unit]};
}

// Without the general way of formatting, which takes ten times as long; ties go to the even digit as there.
std::string whole_number(double number) {
  constexpr double kLargest = 1e15;
  if (!(std::abs(number) < kLargest)) return fmt::format("{:.0f}", number);
  const auto rounded = std::nearbyint(number);
  return rounded == 0 && std::signbit(number) ? "-0" : fmt::format_int(static_cast<std::int64_t>(rounded)).str();
}

std::string short_number(double number, bool whole) {
  if (whole || std::abs(number) >= 99.95) return whole_number(number);
  return fmt::format("{:.1f}", number);
}

std::string short_watts(double watts) { return fmt::format("{:.{}f}", watts, std::abs(watts) < 9.95 ? 1 : 0); }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

void erase_all(std::string &text, std::string_view part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

}  // namespace

Reading by_role(const Row &row, Role role) {
  const auto id = find_role(row.scope(), role);
  if (!id) return Reason::not_supported;
  const auto &reading = row[*id];
  return reading && !std::isfinite(reading.value()) ? Reading(Reason::out_of_range) : reading;
}

std::string text_by_role(const TextRow *texts, Role role) {
  const auto id = find_role(Scope::process, role);
  return texts != nullptr && id ? (*texts)[*id].value_or("") : std::string();
}

std::string_view label_of(Scope scope, Role role) {
  const auto id = find_role(scope, role);
  return id ? describe(*id).label : std::string_view();
}

std::string short_bytes(double bytes) {
  const auto [number, letter] = scale(bytes);
  return letter == '\0' ? fmt::format("{:.0f}B", number) : short_number(number, false) + letter;
}

std::string short_share(double part, double whole) {
  const auto [total, letter] = scale(whole);
  if (letter == '\0') return fmt::format("{:.0f}/{:.0f}B", part, whole);
  const double used = part * total / whole;
  const bool whole_numbers = std::abs(total) >= 99.95;
  std::string first = part == 0 ? "0" : short_number(used, whole_numbers && used >= 9.95);
  if (part > 0 && used < 0.95) first = short_bytes(part);
  return fmt::format("{}/{}{}", first, short_number(total, whole_numbers), letter);
}

std::string short_duration(double seconds) {
  const auto total = static_cast<long long>(std::clamp(seconds, 0.0, 1e12));
  const auto days = total / 86400;
  const auto hours = total / 3600 % 24;
  if (days >= 1) return fmt::format("{}d {:02}h", days, hours);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string short_value(const Style &style, const Metric &metric, double value) {
  if (metric.kind == Kind::state || metric.kind == Kind::set) return format_value(metric, value);
  switch (metric.unit) {
    case Unit::percent:
      return whole_number(value) + '%';
    case Unit::bytes:
      return short_bytes(value);
    case Unit::bytes_per_second:
      return short_bytes(value) + "/s";
    case Unit::watts:
      return short_watts(value) + "W";
    case Unit::celsius:
      return whole_number(value) + (style.unicode ? "°C" : "C");
    case Unit::seconds:
      return short_duration(value);
    case Unit::joules:
      return value >= 1e6 ? fmt::format("{:.1f}MJ", value / 1e6) : fmt::format("{:.1f}kJ", value / 1e3);
    default:
      return fmt::format("{:.{}f}{}", value, metric.precision, symbol(metric.unit));
  }
}

Colour threshold_colour(const Metric &metric, double value, Colour otherwise) {
  if (value >= metric.bad) return Colour::bad;
  if (value >= metric.warn) return Colour::warn;
  return otherwise;
}

Colour load_colour(double percent) {
  constexpr double kIdle = 10;
  constexpr double kFull = 75;
  if (percent < kIdle) return Colour::dim;
  return percent < kFull ? Colour::good : Colour::busy;
}

Cell missing_cell(const Style &style) { return {std::string(style.dash()), Colour::dim}; }

Cell value_cell(const Style &style, const Metric &metric, const Reading &reading) {
  if (!reading || !std::isfinite(reading.value())) return missing_cell(style);
  const double value = reading.value();
  const auto otherwise = metric.unit == Unit::percent ? load_colour(value) : Colour::plain;
  return {short_value(style, metric, value), threshold_colour(metric, value, otherwise)};
}

Cell role_cell(const Style &style, const Row &row, Role role) {
  const auto id = find_role(row.scope(), role);
  return id ? value_cell(style, describe(*id), row[*id]) : missing_cell(style);
}

double memory_share(const Device &device) {
  const auto used = by_role(device.row, Role::memory_used);
  const auto total = by_role(device.row, Role::memory_total);
  return used && total && total.value() > 0 ? used.value() / total.value() : -1;
}

Colour memory_colour(double share) {
  constexpr double kNearlyFull = 0.9;
  constexpr double kFull = 0.98;
  if (share >= kFull) return Colour::bad;
  return share >= kNearlyFull ? Colour::warn : Colour::accent;
}

std::string short_name(const DeviceIdentity &identity) {
  std::string name = identity.name;
  for (const auto sign : {"(R)", "(TM)", "(r)", "(tm)", "®", "™"}) erase_all(name, sign);
  const auto blank = name.find(' ');
  if (blank != std::string::npos && equal_ignoring_case(std::string_view(name).substr(0, blank), identity.vendor)) {
    name.erase(0, blank + 1);
  }
  return name.empty() ? identity.vendor : name;
}

}  // namespace gpulse::view

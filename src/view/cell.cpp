// SPDX-License-Identifier: Apache-2.0
#include "view/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
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

std::string short_number(double number, bool whole) {
  return fixed(number, whole || std::abs(number) >= 99.95 ? 0 : 1);
}

// ":07"
void append_two_digits(std::string &text, long long number) {
  text += ':';
  text += static_cast<char>('0' + number / 10);
  text += static_cast<char>('0' + number % 10);
}

void erase_all(std::string &text, std::string_view part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

}  // namespace

std::string_view text_by_role(const TextRow *texts, Role role) {
  const auto id = find_role(Scope::process, role);
  return texts != nullptr && id && (*texts)[*id] ? std::string_view((*texts)[*id].value()) : std::string_view();
}

std::string_view label_of(Scope scope, Role role) {
  const auto id = find_role(scope, role);
  return id ? describe(*id).label : std::string_view();
}

std::string short_watts(double watts) { return fixed(watts, std::abs(watts) < 9.95 ? 1 : 0); }

std::string short_bytes(double bytes) {
  const auto [number, letter] = scale(bytes);
  return letter == '\0' ? fixed(number, 0) + 'B' : short_number(number, false) + letter;
}

std::string short_share(double part, double whole) {
  const auto [total, letter] = scale(whole);
  if (letter == '\0') return fixed(part, 0) + '/' + fixed(whole, 0) + 'B';
  const double used = part * total / whole;
  const bool whole_numbers = std::abs(total) >= 99.95;
  std::string first = part == 0 ? "0" : short_number(used, whole_numbers && used >= 9.95);
  if (part > 0 && used < 0.95) first = short_bytes(part);
  return first + '/' + short_number(total, whole_numbers) + letter;
}

std::string short_duration(double seconds) {
  const auto total = static_cast<long long>(std::clamp(seconds, 0.0, 1e12));
  const auto days = total / 86400;
  const auto hours = total / 3600 % 24;
  if (days >= 1) return fmt::format("{}d {:02}h", days, hours);
  auto text = fmt::format_int(hours > 0 ? hours : total / 60).str();
  if (hours > 0) append_two_digits(text, total / 60 % 60);
  append_two_digits(text, total % 60);
  return text;
}

std::string short_value(const Style &style, const Metric &metric, double value) {
  if (metric.kind == Kind::state || metric.kind == Kind::set) return format_value(metric, value);
  switch (metric.unit) {
    case Unit::percent:
      return fixed(value, 0) + '%';
    case Unit::bytes:
      return short_bytes(value);
    case Unit::bytes_per_second:
      return short_bytes(value) + "/s";
    case Unit::watts:
      return short_watts(value) + 'W';
    case Unit::celsius:
      return fixed(value, 0) + (style.unicode ? "°C" : "C");
    case Unit::seconds:
      return short_duration(value);
    case Unit::joules:
      return value >= 1e6 ? fixed(value / 1e6, 1) + "MJ" : fixed(value / 1e3, 1) + "kJ";
    case Unit::volts:
      return format_number(metric, value).append(symbol(metric.unit));
    default:
      return fixed(value, metric.precision).append(symbol(metric.unit));
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
  if (!reading) return missing_cell(style);
  const double value = reading.value();
  const bool load = metric.unit == Unit::percent && metric.role != Role::idle;
  const auto otherwise = load ? load_colour(value) : Colour::plain;
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
  if (blank != std::string::npos && lower(std::string_view(name).substr(0, blank)) == lower(identity.vendor)) {
    name.erase(0, blank + 1);
  }
  return name.empty() ? identity.vendor.str() : name;
}

}  // namespace gpulse::view

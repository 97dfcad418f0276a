// SPDX-License-Identifier: Apache-2.0
#include "metric/format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace gpulse {

std::uint64_t set_bits(double value) { return value >= 0 && value < 0x1p53 ? static_cast<std::uint64_t>(value) : 0; }

std::vector<std::string> value_words(const Metric &metric, double value) {
  std::vector<std::string> found;
  if (metric.kind == Kind::set) {
    const auto bits = set_bits(value);
    for (std::size_t i = 0; i < 53; ++i) {
      if ((bits >> i & 1U) == 0) continue;
      found.push_back(i < metric.words.size() ? std::string(metric.words[i]) : fmt::format("bit {}", i));
    }
    return found;
  }
  const bool named = value >= 0 && value < static_cast<double>(metric.words.size());
  found.push_back(named ? std::string(metric.words[static_cast<std::size_t>(value)]) : fmt::format("{}", value));
  return found;
}

std::string format_bytes(double bytes) {
  static constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  const bool whole = unit == 0 || std::abs(bytes) >= 99.95;
  return fmt::format("{:.{}f} {}", bytes, whole ? 0 : 1, kUnits[unit]);
}

std::string format_number(const Metric &metric, double value) {
  constexpr std::size_t kMillivolts = 3;
  auto text = fmt::format("{:.{}f}", value, metric.precision);
  if (metric.unit != Unit::volts) return text;
  const auto shortest = text.find('.') + 1 + kMillivolts;
  while (text.size() > shortest && text.ends_with('0')) text.pop_back();
  return text;
}

std::string format_value(const Metric &metric, double value) {
  switch (metric.kind) {
    case Kind::state:
    case Kind::set: {
      std::string joined;
      for (const auto &name : value_words(metric, value)) joined += (joined.empty() ? "" : ", ") + name;
      return joined.empty() ? "none" : joined;
    }
    default:
      break;
  }
  if (metric.unit == Unit::bytes) return format_bytes(value);
  if (metric.unit == Unit::bytes_per_second) return format_bytes(value) + "/s";
  const auto unit = symbol(metric.unit);
  const bool gap = !unit.empty() && !unit.starts_with('/');
  return fmt::format("{}{}{}", format_number(metric, value), gap ? " " : "", unit);
}

}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// Random but plausible values of metrics, for tests that print them and read them back.
#pragma once

#include <random>
#include <vector>

#include "metric/table.hpp"
#include "smi/form.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {

inline double plausible_value(MetricId id, std::mt19937 &random) {
  const auto &metric = describe(id);
  const auto below = [&](std::uint32_t limit) { return static_cast<double>(random() % limit); };
  if (metric.kind == Kind::state) return below(static_cast<std::uint32_t>(metric.words.size()));
  if (metric.kind == Kind::set) return below(512);
  switch (metric.unit) {
    case Unit::percent:
      return below(101);
    case Unit::bytes:
      return below(1U << 20U) * 1024 * 1024 + below(1U << 20U);
    case Unit::bytes_per_second:
      return below(4'000'000) * 1000 + below(1000);
    case Unit::watts:
      return below(1'000'000) / 997;
    case Unit::celsius:
      return below(200) - 50;
    case Unit::mhz:
      return below(4000);
    case Unit::rpm:
      return below(50'000);
    case Unit::volts:
      return below(60'000) / 1e3;
    case Unit::seconds:
      return below(2'000'000'000) + below(1000) / 1e3;
    default:
      return below(1'000'000);
  }
}

// The value after printing and parsing; empty if it is printed as N/A or as an error.
inline std::optional<double> printed_value(MetricId id, const Form &form, double value) {
  const auto text = form.print(value);
  if (reason_in(text)) return std::nullopt;
  const auto reading = read(id, form, text, form.unit);
  return reading ? std::optional(reading.value()) : std::nullopt;
}

}  // namespace gpulse::smi

// SPDX-License-Identifier: Apache-2.0
#include "alert/growth.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gpulse::alert {

namespace {

constexpr std::int64_t kParts = 60;
constexpr std::size_t kMostParts = 120;  // also of a clock that was turned back

}  // namespace

bool Growth::add(WallTime now, double value, std::chrono::nanoseconds over) {
  const auto before = std::exchange(last, value);
  std::erase_if(parts, [&](const Part &part) { return part.time <= now - over; });
  if (!before || value == *before) return false;
  const double by = value > *before ? value - *before : value;
  if (by <= 0) return false;
  if (!parts.empty() && (now - parts.back().time < over / kParts || parts.size() >= kMostParts)) {
    parts.back().by += by;
  } else {
    parts.push_back({now, by});
  }
  return true;
}

double Growth::within(WallTime now, std::chrono::nanoseconds over) const {
  double all = 0;
  for (const auto &part : parts) all += part.time > now - over ? part.by : 0;
  return all;
}

}  // namespace gpulse::alert

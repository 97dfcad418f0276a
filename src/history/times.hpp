// SPDX-License-Identifier: Apache-2.0
// Times as the tables have them.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

#include "base/clock.hpp"
#include "history/schema.hpp"

namespace gpulse::history {

inline double seconds_of(WallTime time) { return Seconds(time.time_since_epoch()).count(); }
inline WallTime time_of(double seconds) {
  // What no clock can say would overflow.
  constexpr double kFarthest = 9e9;
  const auto bounded = std::isfinite(seconds) ? std::min(std::max(seconds, -kFarthest), kFarthest) : 0.0;
  return WallTime(std::chrono::nanoseconds(static_cast<std::int64_t>(bounded * 1e9)));
}
inline WallTime time_of(std::int64_t seconds) { return time_of(static_cast<double>(seconds)); }

// Where a stretch of this length begins that the time lies in.
inline std::int64_t begin_of(WallTime time, std::chrono::seconds length) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  return seconds - ((seconds % length.count()) + length.count()) % length.count();
}
inline std::int64_t begin_of(WallTime time, Tier tier) { return begin_of(time, step(tier)); }
// The first that begins at or after the time.
inline std::int64_t ceiling_of(WallTime time) {
  return std::chrono::ceil<std::chrono::seconds>(time.time_since_epoch()).count();
}

// Two samples further apart do not belong together: between them anything may have happened.
inline bool belong_together(WallTime before, WallTime now, double seconds) {
  constexpr double kApart = 5;
  return std::fabs(seconds_of(now) - seconds_of(before)) <= std::max(kApart, 3 * seconds);
}

}  // namespace gpulse::history

// SPDX-License-Identifier: Apache-2.0
// How much a counter has grown within the last stretch of time. Bounded, however often it grows. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "base/clock.hpp"

namespace gpulse::alert {

struct Growth {
  struct Part {
    WallTime time{};
    double by = 0;
    bool operator==(const Part &) const = default;
  };
  std::optional<double> last{};
  std::vector<Part> parts{};  // the oldest first

  // True: it has grown. What is less than before has begun anew from 0.
  bool add(WallTime now, double value, std::chrono::nanoseconds over);
  double within(WallTime now, std::chrono::nanoseconds over) const;

  bool operator==(const Growth &) const = default;
};

}  // namespace gpulse::alert

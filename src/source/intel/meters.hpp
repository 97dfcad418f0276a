// SPDX-License-Identifier: Apache-2.0
// From counters of energy and time to watts and shares. Pure: time comes in as an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "model/reading.hpp"

namespace gpulse::intel {

// What a counter said, and when.
struct Mark {
  std::uint64_t count = 0;
  Monotonic at{};
};

// Power out of a counter of microjoules.
class EnergyMeter {
 public:
  // `most_watts`: no more can be drawn, 0 where no limit is known. `wraps_at`: the count after which it starts again
  // from 0; 0 for one that only starts again with its driver.
  Reading update(std::uint64_t microjoules, Monotonic now, double most_watts, std::uint64_t wraps_at = 0);
  // What comes is another counter.
  void forget() { *this = {}; }

 private:
  std::optional<Mark> past_;
  Reading last_;
};

// The share of time that a counter of time says, 0 to 100 percent.
class ShareMeter {
 public:
  Reading update(std::uint64_t count, std::chrono::nanoseconds unit, Monotonic now);

 private:
  std::optional<Mark> past_;
  Reading last_;
};

}  // namespace gpulse::intel

// SPDX-License-Identifier: Apache-2.0
// Turns counters of energy and time into watts and percentages. No clock of its own: time comes in as an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "model/reading.hpp"

namespace gpulse::intel {

// A counter's value at a moment.
struct Mark {
  std::uint64_t count = 0;
  Monotonic at{};
};

// Power from an energy counter.
class EnergyMeter {
 public:
  // `max_watts`: the most that can be drawn; 0: unknown. `wraps_at`: the count after which the counter restarts from 0;
  // 0: it restarts only with its driver.
  Reading update(std::uint64_t microjoules, Monotonic now, double max_watts, std::uint64_t wraps_at = 0);
  // Call when the next value is from another counter.
  void forget() { *this = {}; }

 private:
  std::optional<Mark> past_;
  Reading last_;
};

// The percentage of time that a counter of time has grown by.
class ShareMeter {
 public:
  Reading update(std::uint64_t count, std::chrono::nanoseconds unit, Monotonic now);

 private:
  std::optional<Mark> past_;
  Reading last_;
};

}  // namespace gpulse::intel

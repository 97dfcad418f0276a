// SPDX-License-Identifier: Apache-2.0
// A value over the life of a job in a bounded number of points: when they run out, each two become one. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "metric/metric.hpp"
#include "model/reading.hpp"

namespace gpulse::insight {

inline constexpr std::size_t kMostJobPoints = 600;

class JobCurve {
 public:
  explicit JobCurve(Fold fold = Fold::mean) : fold_(fold) {}

  // How fine it is at first; before anything is added.
  void set_step(double seconds) { step_ = seconds; }
  // The value was this from one time to another, in seconds from the start.
  void add(double from, double to, const Reading &value);

  double step_seconds() const { return step_; }
  std::size_t size() const { return slots_.size(); }
  // None: nothing is known of that time.
  std::optional<double> at(std::size_t index) const;
  bool empty() const;
  double most() const;  // 0 where nothing is known

 private:
  // `seconds` of the time are known; `value` times them, or the greatest.
  struct Slot {
    double value = 0, seconds = 0;
  };
  void put(Slot &slot, double value, double seconds) const;
  void halve();

  Fold fold_;
  double step_ = 1;
  std::vector<Slot> slots_{};
};

// The mean of a value over time.
class TimeMean {
 public:
  // A reading that is none leaves its reason, as long as there is no number.
  void add(const Reading &value, double seconds);
  Reading mean() const;
  double seconds() const { return seconds_; }

 private:
  double sum_ = 0, seconds_ = 0;
  Reading reason_{};
};

// The greatest of readings; the reason of the last where none has a number.
void keep_greatest(Reading &most, const Reading &reading);

}  // namespace gpulse::insight

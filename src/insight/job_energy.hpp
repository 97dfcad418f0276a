// SPDX-License-Identifier: Apache-2.0
// How much energy a device took while a job was on it, and how sure that is. The device counts what it takes, or tells
// only its power; either is known at the moments of samples, while the job comes and goes between them. Pure.
#pragma once

#include <optional>

#include "model/reading.hpp"

namespace gpulse::insight {

struct JobEnergy {
  double joules = 0, least = 0, most = 0;
  bool counted = false;  // by the device; else added up from its power
};

// Where the numbers may lie: the sum of each.
JobEnergy operator+(const JobEnergy &a, const JobEnergy &b);

class EnergyMeter {
 public:
  // A sample at `to`, in seconds; `from` is the one before. `there`: the job is on the device. `grain_seconds`: how old
  // the count may be.
  void add(double from, double to, bool there, const Reading &counter, const Reading &watts, double grain_seconds);

  // From the first to the last moment at which the job was there; none: the device tells neither.
  std::optional<JobEnergy> energy() const;

 private:
  struct Count {
    double joules = 0, grain = 0;  // the most that it may have missed
  };
  std::optional<JobEnergy> counted() const;
  std::optional<JobEnergy> added_up() const;

  bool began_ = false, counter_broken_ = false;
  // The last count before the job came, those with it, the first after it was seen last.
  std::optional<Count> before_{}, first_{}, last_{}, after_{};
  std::optional<double> watts_{};  // of the sample before
  double least_watts_ = 0, most_watts_ = 0;
  bool any_watts_ = false;
  double joules_ = 0, error_ = 0;           // of the power
  double pending_ = 0, pending_error_ = 0;  // since it was seen last: counts only when it is seen again
  double edge_ = 0;                         // joules in the steps in which it came and went
};

}  // namespace gpulse::insight

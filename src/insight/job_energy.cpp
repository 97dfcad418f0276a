// SPDX-License-Identifier: Apache-2.0
#include "insight/job_energy.hpp"

#include <algorithm>
#include <cmath>

namespace gpulse::insight {

JobEnergy operator+(const JobEnergy &a, const JobEnergy &b) {
  return {a.joules + b.joules, a.least + b.least, a.most + b.most, a.counted && b.counted};
}

void EnergyMeter::add(double from, double to, bool there, const Reading &counter, const Reading &watts,
                      double grain_seconds) {
  const double seconds = std::max(to - from, 0.0);
  if (watts) {
    least_watts_ = any_watts_ ? std::min(least_watts_, watts.value()) : watts.value();
    most_watts_ = any_watts_ ? std::max(most_watts_, watts.value()) : watts.value();
    any_watts_ = true;
  }
  if (counter) {
    const Count count{counter.value(), watts.value_or(watts_.value_or(0)) * grain_seconds};
    const auto &previous = after_ ? after_ : last_ ? last_ : before_;
    if (previous && count.joules < previous->joules) counter_broken_ = true;
    if (there) {
      if (!first_) first_ = count;
      last_ = count;
      after_.reset();
    } else if (!began_) {
      before_ = count;
    } else if (!after_) {
      after_ = count;
    }
  }
  // Between two readings the power may have been either.
  const double mean = watts ? watts.value() : watts_.value_or(0);
  const double error = watts && watts_ ? std::abs(watts.value() - *watts_) / 2 * seconds : 0;
  if (there && !began_) {
    edge_ += mean * seconds;
  } else if (began_) {
    pending_ += mean * seconds;
    pending_error_ += error;
  }
  if (there) {
    joules_ += pending_;
    error_ += pending_error_;
    pending_ = pending_error_ = 0;
    began_ = true;
  }
  if (watts) watts_ = watts.value();
}

std::optional<JobEnergy> EnergyMeter::counted() const {
  if (counter_broken_ || !first_ || !last_) return std::nullopt;
  const auto &begin = before_ ? before_ : first_;
  const auto &end = after_ ? after_ : last_;
  JobEnergy energy{.counted = true};
  energy.least = std::max(last_->joules - first_->joules - first_->grain, 0.0);
  energy.most = end->joules + end->grain - begin->joules;
  energy.joules = (energy.least + energy.most) / 2;
  return energy;
}

std::optional<JobEnergy> EnergyMeter::added_up() const {
  if (!any_watts_ || !began_) return std::nullopt;
  JobEnergy energy;
  energy.least = std::max(joules_ - error_, 0.0);
  // The step in which it came, and the one in which it went, as far as there was one.
  energy.most = joules_ + error_ + edge_ + pending_;
  energy.joules = (energy.least + energy.most) / 2;
  return energy;
}

std::optional<JobEnergy> EnergyMeter::energy() const {
  const auto counted = this->counted();
  return counted ? counted : added_up();
}

}  // namespace gpulse::insight

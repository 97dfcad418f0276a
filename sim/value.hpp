// SPDX-License-Identifier: Apache-2.0
// A value of a simulated device over scenario time: a constant, scripted keyframes or a column of a recorded trace.
// Immutable once the scenario is published, so that every caller's thread reads it without a lock.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "source/nvml/abi.hpp"

namespace gpulse::sim {

using nvml::Return;

struct Keyframe {
  double time_s, value;
};

class Series {
 public:
  // A period of 0 holds the last keyframe for ever; otherwise the script starts again after that many seconds.
  Series(std::vector<Keyframe> frames, bool linear, double period_s);

  [[nodiscard]] double at(double time_s) const;
  // The area under the curve from 0 to time_s: energy from power, bytes from a rate, a mean between two samples.
  [[nodiscard]] double integral(double time_s) const;

 private:
  [[nodiscard]] double at_phase(double phase_s) const;
  [[nodiscard]] double integral_phase(double phase_s) const;
  [[nodiscard]] std::size_t frame_before(double phase_s) const;

  std::vector<Keyframe> frames_;
  std::vector<double> area_;  // area_[i] = integral from 0 to frames_[i]
  bool linear_;
  double period_s_;
};

struct Number {
  Return code = Return::not_supported;
  double constant = 0;
  const Series *series = nullptr;  // null: the constant, and the clock is never read
  double scale = 1;
  double shift_s = 0;

  [[nodiscard]] bool supported() const { return code == Return::success; }
  [[nodiscard]] double at(double time_s) const {
    return series == nullptr ? constant : scale * series->at(time_s + shift_s);
  }
  [[nodiscard]] double integral(double time_s) const {
    if (series == nullptr) {
      return constant * time_s;
    }
    return scale * (series->integral(time_s + shift_s) - series->integral(shift_s));
  }
  static Number of(double value) { return {.code = Return::success, .constant = value}; }
};

}  // namespace gpulse::sim

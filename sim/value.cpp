// SPDX-License-Identifier: Apache-2.0
#include "value.hpp"

#include <algorithm>
#include <utility>

namespace gpulse::sim {

Series::Series(std::vector<Keyframe> frames, bool linear, double period_s)
    : frames_(std::move(frames)), linear_(linear), period_s_(period_s) {
  area_.reserve(frames_.size());
  // Before the first keyframe its value holds, so the area starts with that rectangle.
  double area = frames_.front().value * frames_.front().time_s;
  area_.push_back(area);
  for (std::size_t i = 1; i < frames_.size(); ++i) {
    const Keyframe &from = frames_[i - 1];
    const Keyframe &to = frames_[i];
    const double height = linear_ ? (from.value + to.value) / 2 : from.value;
    area += height * (to.time_s - from.time_s);
    area_.push_back(area);
  }
}

std::size_t Series::frame_before(double phase_s) const {
  const auto next = std::ranges::upper_bound(frames_, phase_s, {}, &Keyframe::time_s);
  return next == frames_.begin() ? 0 : static_cast<std::size_t>(next - frames_.begin()) - 1;
}

double Series::at_phase(double phase_s) const {
  const std::size_t i = frame_before(phase_s);
  const Keyframe &from = frames_[i];
  if (!linear_ || i + 1 == frames_.size() || phase_s <= from.time_s) {
    return from.value;
  }
  const Keyframe &to = frames_[i + 1];
  return from.value + (to.value - from.value) * (phase_s - from.time_s) / (to.time_s - from.time_s);
}

double Series::integral_phase(double phase_s) const {
  const std::size_t i = frame_before(phase_s);
  const double here = at_phase(phase_s);
  const double height = linear_ ? (frames_[i].value + here) / 2 : here;
  return area_[i] + height * (phase_s - frames_[i].time_s);
}

double Series::at(double time_s) const {
  if (period_s_ <= 0) {
    return at_phase(time_s);
  }
  return at_phase(time_s - std::floor(time_s / period_s_) * period_s_);
}

double Series::integral(double time_s) const {
  if (period_s_ <= 0) {
    return integral_phase(time_s);
  }
  const double cycles = std::floor(time_s / period_s_);
  return cycles * integral_phase(period_s_) + integral_phase(time_s - cycles * period_s_);
}

}  // namespace gpulse::sim

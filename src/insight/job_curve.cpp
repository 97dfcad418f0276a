// SPDX-License-Identifier: Apache-2.0
#include "insight/job_curve.hpp"

#include <algorithm>
#include <cmath>

namespace gpulse::insight {

void JobCurve::put(Slot &slot, double value, double seconds) const {
  if (fold_ == Fold::maximum) {
    slot.value = slot.seconds > 0 ? std::max(slot.value, value) : value;
  } else {
    slot.value += value * seconds;
  }
  slot.seconds += seconds;
}

void JobCurve::halve() {
  for (std::size_t i = 0; i < slots_.size(); i += 2) {
    Slot both;
    for (std::size_t half = i; half < std::min(i + 2, slots_.size()); ++half) {
      const auto &[value, seconds] = slots_[half];
      if (seconds > 0) put(both, fold_ == Fold::maximum ? value : value / seconds, seconds);
    }
    slots_[i / 2] = both;
  }
  slots_.resize((slots_.size() + 1) / 2);
  step_ *= 2;
}

void JobCurve::add(double from, double to, const Reading &value) {
  from = std::max(from, 0.0);
  if (!(to > from) || !std::isfinite(to)) return;
  while (to > step_ * kMostJobPoints) halve();
  if (!value) return;
  const auto first = static_cast<std::size_t>(from / step_);
  const auto last = std::min(static_cast<std::size_t>(std::ceil(to / step_)), kMostJobPoints);
  if (slots_.size() < last) slots_.resize(last);
  for (auto i = first; i < last; ++i) {
    const auto begin = static_cast<double>(i) * step_;
    const auto part = std::min(to, begin + step_) - std::max(from, begin);
    if (part > 0) put(slots_[i], value.value(), part);
  }
}

std::optional<double> JobCurve::at(std::size_t index) const {
  if (index >= slots_.size() || slots_[index].seconds <= 0) return std::nullopt;
  const auto &[value, seconds] = slots_[index];
  return fold_ == Fold::maximum ? value : value / seconds;
}

bool JobCurve::empty() const {
  return std::ranges::none_of(slots_, [](const Slot &slot) { return slot.seconds > 0; });
}

double JobCurve::most() const {
  double most = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) most = std::max(most, at(i).value_or(0));
  return most;
}

void TimeMean::add(const Reading &value, double seconds) {
  if (!value) {
    reason_ = value;
  } else if (seconds > 0) {
    sum_ += value.value() * seconds;
    seconds_ += seconds;
  }
}

Reading TimeMean::mean() const { return seconds_ > 0 ? Reading(sum_ / seconds_) : reason_; }

void keep_greatest(Reading &most, const Reading &reading) {
  if (!most || (reading && reading.value() > most.value())) most = reading || !most ? reading : most;
}

}  // namespace gpulse::insight

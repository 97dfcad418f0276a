// SPDX-License-Identifier: Apache-2.0
// How much a counter grows per second, from one reading to the next.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "model/reading.hpp"

namespace gpulse::host {

class CounterRate {
 public:
  // not_supported when there is no counter; not_sampled when there is nothing to compare with, as after a counter has
  // started anew.
  Reading update(std::optional<std::uint64_t> count, Monotonic now, double scale = 1) {
    if (!count) {
      before_.reset();
      return last_ = Reason::not_supported;
    }
    const double elapsed = before_ ? Seconds(now - at_).count() : 0;
    // Two readings at one moment: the last one stands.
    if (before_ && elapsed <= 0) return last_;
    const bool grown = before_ && *count >= *before_;
    last_ = grown ? Reading(static_cast<double>(*count - *before_) * scale / elapsed) : Reason::not_sampled;
    before_ = count;
    at_ = now;
    return last_;
  }

 private:
  std::optional<std::uint64_t> before_;
  Monotonic at_{};
  Reading last_ = Reason::not_sampled;
};

}  // namespace gpulse::host

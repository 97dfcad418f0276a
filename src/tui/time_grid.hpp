// SPDX-License-Identifier: Apache-2.0
// Where the samples of a plot lie on its time axis: a dot stands for the same stretch of time everywhere, also where
// samples are missing or were taken at another interval. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace gpulse::tui {

class TimeGrid {
 public:
  // `times` are those of the samples up to `number`, oldest first; a dot shows `zoom` of them.
  TimeGrid(std::span<const WallTime> times, std::uint64_t number, int zoom);

  // A value for each dot, the newest last; a gap where nothing was sampled. `room` keeps what had to be made.
  std::span<const float> dots(std::span<const float> values, std::vector<float> &room) const;

  // The time from one dot to the next.
  std::chrono::nanoseconds dot() const { return spacing_ * zoom_; }
  WallTime newest() const { return newest_; }

 private:
  struct Place {
    std::uint64_t slot = 0;  // counted such that a sample keeps its slot while newer ones come
    std::uint64_t from = 0;  // the first slot its value stands for
  };

  int zoom_;
  std::chrono::nanoseconds spacing_{};
  WallTime newest_{};
  std::vector<Place> places_;  // empty: one slot for each sample
};

// A tick of the time axis, `age` dots before the newest.
struct TimeTick {
  int age = 0;
  std::string label;
};
// At round times, far enough apart for their labels: "-30s" before now, or times of day. None at the newest dot itself.
std::vector<TimeTick> time_ticks(const TimeGrid &grid, int dots, int dots_per_column, bool clock);

// "12s", "1m30s", "2h", "0.5s"
std::string span_text(std::chrono::nanoseconds span);

}  // namespace gpulse::tui

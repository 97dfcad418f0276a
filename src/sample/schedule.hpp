// SPDX-License-Identifier: Apache-2.0
// When a reader is due. Pure: time comes in as an argument.
//
// Each reader starts in the tier that its source gives it. The measured cost of its calls is averaged: a reader that
// would take more than 2 % of the time between two samples, or 10 % for all entities together, moves down until it does
// not. What is not shown anywhere is read slowly, unless it is nearly free.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "source/api/source.hpp"

namespace gpulse {

// Which readers a sample calls.
enum class Pass : std::uint8_t {
  scheduled,   // those that are due
  everything,  // all that the driver has not refused
  rates,       // those of Tier::tick, and those that need a second reading
  rest,        // those that were not read yet
  fast,        // those of Tier::tick, without the extra ones
};

std::chrono::nanoseconds period(Tier tier);

// The mean cost of one reader's calls over all entities, and the tier that follows from it.
class ReaderCost {
 public:
  explicit ReaderCost(const ReaderInfo &info) : info_(info) {}

  void add(std::chrono::nanoseconds cost);
  // Moves the reader down, or back up when it has become cheap again. `tick`: the time between two samples; `entities`:
  // how many the reader is called for in each.
  void update_tier(std::chrono::nanoseconds tick, std::size_t entities);
  // Whether anything it fills is shown, and how often it is read if not; takes effect with the next update_tier().
  void focus(bool in_focus, Tier rest) {
    in_focus_ = in_focus;
    rest_ = rest;
  }

  const ReaderInfo &info() const { return info_; }
  Tier tier() const { return deferred_ ? std::max(rest_, earned()) : earned(); }
  bool slowed() const { return earned() > info_.tier; }
  std::chrono::nanoseconds mean() const { return std::chrono::nanoseconds(static_cast<std::int64_t>(mean_ns_)); }
  std::uint64_t calls() const { return calls_; }
  std::chrono::nanoseconds total() const { return total_; }

 private:
  Tier earned() const { return tier_.value_or(info_.tier); }

  ReaderInfo info_;
  std::optional<Tier> tier_;
  bool in_focus_ = true;
  Tier rest_ = Tier::slow;
  bool deferred_ = false;  // not in focus, and not nearly free
  double mean_ns_ = 0;
  std::uint64_t calls_ = 0;
  std::chrono::nanoseconds total_{0};
};

// One reader on one entity.
struct ReaderTurn {
  static constexpr Monotonic kNever = Monotonic::min();

  Monotonic last{};
  bool read_once = false;
  bool refused = false;          // for good: the driver does not support it
  Monotonic last_full = kNever;  // when it last filled all it can, and not only what is in focus

  bool due(const ReaderInfo &info, Tier tier, Pass pass, Monotonic now) const;
  // Whether a reading at `now` is for everything, and not only for what is in focus.
  bool is_full_due(Tier rest, Monotonic now) const { return last_full == kNever || now - last_full >= period(rest); }
  void note(Outcome outcome, bool full, Monotonic now) {
    last = now;
    read_once = true;
    if (outcome == Outcome::not_yet) {
      last_full = kNever;
    } else if (full) {
      last_full = now;
    }
  }
};

}  // namespace gpulse

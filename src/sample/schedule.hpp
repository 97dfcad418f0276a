// SPDX-License-Identifier: Apache-2.0
// When a reader is due. Pure: time comes in as an argument.
//
// Each reader starts at the tier its source gives it. What its calls really cost here is averaged, and a reader that
// would take more than 2 % of the time between two samples, or 10 % for all entities, moves down a tier, as far as it
// takes. What nobody looks at is read slowly unless it is nearly free.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "source/api/source.hpp"

namespace gpulse {

// What a sample is to read.
enum class Pass : std::uint8_t {
  scheduled,   // what is due
  everything,  // all that is not refused
  rates,       // what is read every time, and what needs a second reading
  fast,        // only what is read every time
};

// The mean cost of one reader's calls over all entities, and the tier it has earned.
class ReaderCost {
 public:
  explicit ReaderCost(const ReaderInfo &info) : info_(&info) {}

  void add(std::chrono::nanoseconds cost);
  // `tick`: time between two samples; `entities`: how many the reader is called for in each. Moves the reader down, or
  // back up when it has become cheap again.
  void settle(std::chrono::nanoseconds tick, std::size_t entities);
  // Whether somebody looks at what it fills; counts from the next settling on.
  void focus(bool in_focus) { in_focus_ = in_focus; }

  const ReaderInfo &info() const { return *info_; }
  Tier tier() const { return unseen_ ? Tier::slow : earned(); }
  bool slowed() const { return earned() > info_->tier; }
  std::chrono::nanoseconds mean() const { return std::chrono::nanoseconds(static_cast<std::int64_t>(mean_ns_)); }
  std::uint64_t calls() const { return calls_; }

 private:
  Tier earned() const { return tier_.value_or(info_->tier); }

  const ReaderInfo *info_;
  std::optional<Tier> tier_;
  bool in_focus_ = true;
  bool unseen_ = false;  // not in focus, and not nearly free
  double mean_ns_ = 0;
  std::uint64_t calls_ = 0;
};

// One reader on one entity.
struct ReaderTurn {
  Monotonic last{};
  bool read_once = false;
  bool refused = false;                // the driver said no, once and for all
  std::optional<Monotonic> last_full{};  // when it last filled all it can, and not only what is in focus

  bool due(const ReaderInfo &info, Tier tier, Pass pass, Monotonic now) const;
  // What a reading at `now` is for: what is in focus, and every kSlowPeriod everything (null).
  const MetricSet *due_metrics(const MetricSet *in_focus, Monotonic now) const;
  void note(Outcome outcome, bool full, Monotonic now);
};

std::chrono::nanoseconds period(Tier tier);

}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// Findings while samples come in, live or from a recording of any length: the last minute is judged again every few
// seconds, and a finding begins and ends only when several judgements agree. One thread.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "insight/diagnose.hpp"

namespace gpulse::insight {

struct WatchOptions {
  std::chrono::nanoseconds window = std::chrono::seconds(60);
  std::chrono::nanoseconds step = std::chrono::seconds(5);  // between judgements
};

// A finding as it lasts: `finding.since` and `.until` span all of it.
struct LastingFinding {
  std::uint64_t number = 0;  // the same while it lasts, never used again
  bool over = false;
  Finding finding;
};

class Watch {
 public:
  explicit Watch(WatchOptions options = {}) : options_(options) {}

  // True: it was judged again.
  bool add(const SnapshotPtr &sample);
  // Those that last, the worst first; those that are well are not among them.
  const std::vector<LastingFinding> &current() const { return current_; }
  // Those that ended since this was last asked.
  std::vector<LastingFinding> take_ended();

 private:
  WatchOptions options_;
  std::deque<SnapshotPtr> samples_;
  WallTime judged_{};
  std::vector<LastingFinding> current_, ended_;
};

}  // namespace gpulse::insight

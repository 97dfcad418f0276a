// SPDX-License-Identifier: Apache-2.0
// Findings while samples come in, live or from a recording of any length: the last half minute is judged again every
// few seconds, and a finding begins and ends only when several judgements agree, or ends with the job that it is about.
// One thread.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "insight/diagnose.hpp"

namespace gpulse::insight {

struct WatchOptions {
  std::chrono::nanoseconds window = std::chrono::seconds(30);
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
  // The last judgement, whatever came of it.
  const Diagnosis &last() const { return diagnosis_; }
  // Those that ended since this was last asked.
  std::vector<LastingFinding> take_ended();

 private:
  // Seen once or more, but not long enough to be told; or told, and not seen for a while.
  struct Candidate {
    LastingFinding lasting;
    int seen = 0;           // judgements in a row
    int missed = 0;         // since it was last seen
    bool has_left = false;  // the job that it is about
  };
  enum class Leavers { passed_over, judged };
  void note_ends();
  bool is_about_who_left(const Finding &finding) const;
  void end_those_of_who_left();
  void judge(Leavers leavers);
  void publish();

  WatchOptions options_;
  std::deque<SnapshotPtr> samples_;
  WallTime judged_{};
  Diagnosis diagnosis_;
  std::uint64_t last_number_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<LastingFinding> current_, ended_;
};

}  // namespace gpulse::insight

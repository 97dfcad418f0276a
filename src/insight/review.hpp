// SPDX-License-Identifier: Apache-2.0
// A stretch of time of any length as one diagnosis: up to two minutes are judged as a whole, a longer one as what Watch
// has found on the way. One thread.
#pragma once

#include <array>
#include <vector>

#include "insight/diagnose.hpp"
#include "insight/watch.hpp"

namespace gpulse::insight {

class Review {
 public:
  void add(const SnapshotPtr &sample);
  // Of all that was added.
  Diagnosis end() const;

 private:
  void watch(const SnapshotPtr &sample);
  Diagnosis long_one() const;

  std::vector<SnapshotPtr> samples_;  // while there are few enough
  bool is_long_ = false;
  WallTime first_{}, last_{};
  std::size_t count_ = 0;
  Watch watch_;
  std::vector<LastingFinding> ended_;
  // How often the GPUs were seen at this, and what was said of it last.
  struct State {
    std::size_t times = 0;
    Finding finding;
  };
  std::array<State, kFindingIds> states_{};
};

}  // namespace gpulse::insight

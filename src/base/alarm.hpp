// SPDX-License-Identifier: Apache-2.0
// Wakes a thread at a time that other threads may change. Putting it off does not wake the thread that waits, and costs
// one system call.
#pragma once

#include "base/clock.hpp"
#include "base/unique_fd.hpp"

namespace gpulse {

class Alarm {
 public:
  Alarm();

  void set(Monotonic time);
  // Until the alarm goes off; it may do so early.
  void wait();

 private:
  UniqueFd timer_;
};

}  // namespace gpulse

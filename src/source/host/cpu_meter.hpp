// SPDX-License-Identifier: Apache-2.0
// What /proc/stat tells: the use of the processors between two readings of it, and how many tasks there were for them.
#pragma once

#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "model/snapshot.hpp"
#include "source/host/counter_rate.hpp"
#include "source/host/parse.hpp"

namespace gpulse::host {

class CpuMeter {
 public:
  // Fills the host row's metrics and the list of cores; false when the text cannot be parsed.
  bool update(std::string_view text, Monotonic now, Row &row, std::vector<CpuCore> &cores);

 private:
  void tell_tasks(Monotonic now, Row &row);
  void list(std::vector<CpuCore> &cores) const;
  void compare(std::vector<CpuCore> &cores) const;

  StatText now_;
  StatText before_;
  bool has_before_ = false;
  CounterRate interrupts_;
  CounterRate context_switches_;
};

}  // namespace gpulse::host

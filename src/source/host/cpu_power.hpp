// SPDX-License-Identifier: Apache-2.0
// Power of processors and memory, from the processors' energy counters (RAPL).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/sysroot.hpp"
#include "model/reading.hpp"

namespace gpulse::host {

// Watts between two values of a counter that wraps at `range`; a reason when they are implausible.
Reading power_between(std::uint64_t before, std::uint64_t now, std::uint64_t range, Seconds elapsed);

class CpuPower {
 public:
  struct Readings {
    Reading processors = Reason::not_supported;
    Reading memory = Reason::not_supported;
  };
  // Mean since the previous call.
  Readings read(const Sysroot &root, Monotonic now);

 private:
  // One counter: of a processor, or of its memory.
  struct Counter {
    std::string file;
    bool memory = false;
    std::uint64_t range = 0;  // 0: not known
    std::optional<std::uint64_t> before;
  };
  void find(const Sysroot &root);
  static Reading advance(const Sysroot &root, Counter &counter, Seconds elapsed);

  std::vector<Counter> counters_;
  std::optional<Monotonic> at_;
  std::optional<Monotonic> looked_;
  Readings last_;
};

}  // namespace gpulse::host

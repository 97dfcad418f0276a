// SPDX-License-Identifier: Apache-2.0
// How much the tasks of a process's control group wait for processors, disks and memory, by the kernel's own count.
// Kept by ProcessTrees, one per process; one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/kept_file.hpp"
#include "base/sysroot.hpp"
#include "model/row.hpp"

namespace gpulse::host {

class CgroupPressure {
 public:
  void read(const Sysroot &root, std::uint32_t pid, Monotonic now);
  void answer(Row &process) const;

 private:
  void find_group(const Sysroot &root, std::uint32_t pid);

  std::string folder_;  // of the group; empty: there is none
  std::optional<Monotonic> found_;
  std::array<KeptFile, 3> files_;
  std::array<Reading, 3> readings_;
  std::string text_;
};

}  // namespace gpulse::host

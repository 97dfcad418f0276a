// SPDX-License-Identifier: Apache-2.0
// One particular process, held so that what is done to it cannot hit another that got its number later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace gpulse {

class ProcessHandle {
 public:
  // Fails when the process is gone, or when it did not start at `start_ticks` (clock ticks after boot, field 22 of its
  // stat): then the number belongs to another one by now. Without a start the one that has the number now is meant.
  static Result<ProcessHandle> open(std::uint32_t pid, std::optional<std::uint64_t> start_ticks);

  std::uint32_t pid() const { return pid_; }
  std::uint64_t start_ticks() const { return start_ticks_; }
  bool alive() const;

  // Errors say in words why not: "no permission: it belongs to root", "it is gone", "it was replaced by another".
  Result<void> signal(int number) const;
  Result<void> renice(int nice) const;
  Result<int> nice() const;
  // NAME=value as the process was started with, in its order; not safe to print. At most a mebibyte is read.
  Result<std::vector<std::string>> environment() const;

 private:
  ProcessHandle(UniqueFd file, std::uint32_t pid, std::uint64_t start)
      : file_(std::move(file)), pid_(pid), start_ticks_(start) {}

  UniqueFd file_;  // of pidfd_open; none where the kernel has no such call
  std::uint32_t pid_;
  std::uint64_t start_ticks_;
};

}  // namespace gpulse

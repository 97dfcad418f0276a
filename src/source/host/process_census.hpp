// SPDX-License-Identifier: Apache-2.0
// Who has started whom on this machine. Made by ProcessTrees; one thread at a time.
//
// The kernel has lists of children too (/proc/PID/task/TID/children), but one per thread: a job has hundreds, so that
// reading them costs more than this. It reads a process's parent once, when the process is new, and the kernel says in
// /proc/loadavg which pid it gave last: while that stands still nothing else is looked at, and when it has moved only
// the pids since then are listed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/kept_file.hpp"
#include "base/sysroot.hpp"

namespace gpulse::host {

class ProcessCensus {
 public:
  explicit ProcessCensus(Sysroot root);

  void update(Monotonic now);
  std::optional<Monotonic> updated() const { return updated_; }
  // Rises whenever there are new processes.
  std::uint64_t generation() const { return generation_; }

  // When the process started, in clock ticks since boot; none: it is not known.
  std::optional<std::uint64_t> start_of(std::uint32_t pid) const;
  // Adds those that the process has started and that may still be there.
  void add_children(std::uint32_t pid, std::vector<std::uint32_t> &out) const;
  // It has ended.
  void forget(std::uint32_t pid) { known_.erase(pid); }

 private:
  struct Known {
    std::uint32_t parent = 0;
    std::uint64_t start_ticks = 0;
    std::uint64_t listed = 0;  // in which of the full lists
  };
  std::optional<std::uint32_t> read_last_pid();
  void list_all(std::optional<std::uint32_t> last, bool read_again, Monotonic now);
  void list_new(std::uint32_t after, std::uint32_t last);
  bool add(std::uint32_t pid);

  Sysroot root_;
  bool own_proc_;
  std::unordered_map<std::uint32_t, Known> known_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> children_;  // also of those that are gone
  KeptFile loadavg_;
  std::optional<std::uint32_t> last_pid_;  // none: the kernel did not tell
  std::optional<long> at_last_;            // the place of that process in the list of /proc, or of the one before
  std::optional<Monotonic> updated_;
  std::optional<Monotonic> listed_all_;
  std::uint64_t lists_ = 0;
  std::uint64_t generation_ = 0;
  std::string text_;
};

// The pid that the kernel gave last, in /proc/loadavg.
std::optional<std::uint32_t> parse_last_pid(std::string_view loadavg);

}  // namespace gpulse::host

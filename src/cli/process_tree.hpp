// SPDX-License-Identifier: Apache-2.0
// The processes that a process has started, and those in turn: a job. Asked again and again while it runs, so that what
// was found out is kept: one of them stays one when its parent ends and the kernel gives it another. Reads /proc; one
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "insight/job_report.hpp"
#include "model/snapshot.hpp"

namespace gpulse::cli {

// From outside, so that it is true of processes that use no GPU, too.
bool descends_from(std::uint32_t pid, std::uint32_t ancestor);

class ProcessTree {
 public:
  // `mark`: "NAME=value" in the environment of all of them, by which one is known that has left the tree before
  // anybody looked; empty: there is none.
  explicit ProcessTree(std::uint32_t root, std::string mark = {}) : root_(root), mark_(std::move(mark)) {}

  bool contains(const Process &process);
  Snapshot part_of(const Snapshot &snapshot);

  // What all of them together have used until now; those that ended included, if somebody has waited for them.
  insight::JobUse use(Monotonic now);

 private:
  struct Counts {
    double cpu_seconds = 0, memory_bytes = 0;
    Reading read_bytes, written_bytes;
    bool over = false;  // nobody has waited for it yet
  };
  void look_for_children();
  std::optional<Counts> counts_of(std::uint32_t pid, std::uint64_t start_ticks);

  std::uint32_t root_;
  std::string mark_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, bool> known_;
  std::map<std::uint32_t, std::uint64_t> members_{};  // and when each began, in clock ticks after boot
  Monotonic next_look_{};
  insight::JobUse last_{};
  std::string text_;
};

}  // namespace gpulse::cli

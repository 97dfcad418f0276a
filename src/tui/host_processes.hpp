// SPDX-License-Identifier: Apache-2.0
// All processes of the machine, with what each used since the look before: for the page of the busiest ones, and for
// the children of a GPU process. Reads /proc, so it is asked only while somebody looks at it. UI thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/sysroot.hpp"
#include "model/reading.hpp"

namespace gpulse::tui {

struct HostProcess {
  std::uint32_t pid = 0, parent = 0;
  char state = '?';           // R runs, S waits, D waits for a disk, …
  std::string user, command;  // clean
  double memory_bytes = 0;
  double running_seconds = 0;
  // Since the look before; 100 is one core.
  Reading cpu_percent, read_bytes_per_second, written_bytes_per_second;
};

class HostProcesses {
 public:
  explicit HostProcesses(Sysroot root = {}) : root_(std::move(root)) {}

  // Looks again unless it has just done so.
  void look(Monotonic now);
  const std::map<std::uint32_t, HostProcess> &all() const { return all_; }
  // What the process has started, and those in turn, the busiest first.
  std::vector<const HostProcess *> below(std::uint32_t pid) const;

 private:
  struct Counts {
    std::uint64_t start_ticks = 0, cpu_ticks = 0;
    bool has_io = false;
    std::uint64_t read_bytes = 0, written_bytes = 0;
  };
  bool read(std::uint32_t pid, double seconds, double uptime, HostProcess &process, Counts &counts);
  std::string user_of(std::uint32_t pid);

  Sysroot root_;
  std::map<std::uint32_t, HostProcess> all_;
  std::map<std::uint32_t, Counts> counts_;
  std::map<std::uint32_t, std::string> users_;
  Monotonic looked_{};
  bool has_looked_ = false;
  std::string text_;
};

}  // namespace gpulse::tui

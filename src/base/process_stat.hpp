// SPDX-License-Identifier: Apache-2.0
// /proc/PID/stat and /proc/PID/io as facts, and the units that they count in. The name is what the process's owner
// likes: not safe to print.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpulse {

struct ProcessStat {
  std::string_view name;
  char state = '?';
  std::uint32_t parent = 0;              // 0: none, or outside of our pid namespace
  std::uint64_t cpu_ticks = 0;           // user and system
  std::uint64_t children_cpu_ticks = 0;  // of those that have ended and that it has waited for, and theirs
  int nice = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;  // since boot
  std::uint64_t resident_pages = 0;
  std::string_view rest;  // what follows the fields above

  // A first thread that ended while others go on is a zombie too, but its process is not over.
  bool is_over() const { return (state == 'Z' && threads <= 1) || state == 'X' || state == 'x'; }
};
std::optional<ProcessStat> parse_process_stat(std::string_view text);

// How long its first thread has waited for disks, in clock ticks; 0 as well where the kernel does not count. Far back
// in the line, so it is parsed for who asks only.
std::optional<std::uint64_t> disk_wait_ticks(const ProcessStat &stat);

// What a process has moved from and to storage, and its children that have ended and that it has waited for.
struct ProcessIo {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};
std::optional<ProcessIo> parse_process_io(std::string_view text);

double ticks_per_second();
std::chrono::nanoseconds from_ticks(std::uint64_t ticks);
double page_bytes();

}  // namespace gpulse

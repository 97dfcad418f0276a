// SPDX-License-Identifier: Apache-2.0
// One process of a job: the kernel's counts of it, and what they say about the time since the look before. Kept by
// ProcessTrees; one thread at a time.
//
// A look has two halves: all processes are read, parents first, and then settled. A process that has ended hands what
// it had used to its parent in between, because the parent's counts have it from then on that the parent has waited for
// it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/kept_file.hpp"
#include "base/process_stat.hpp"
#include "base/sysroot.hpp"
#include "model/reading.hpp"

namespace gpulse::host {

struct TreeLook {
  const Sysroot &root;
  Monotonic now;
  bool has_clocks = false;  // a pid of /proc can be given to clock_gettime()
  bool wants_io = true;     // else nobody may know
  bool keeps_files = true;
  std::string &text;  // a buffer
};

class TreeProcess {
 public:
  // `started_after`: there was a look then, and it was not there yet.
  TreeProcess(std::uint32_t pid, std::uint64_t start_ticks, std::optional<Monotonic> started_after);

  void read(const TreeLook &look);
  // To the nearest ancestor that goes on.
  void hand_over(TreeProcess &ancestor) const;
  void settle();

  std::uint32_t pid() const { return pid_; }
  std::uint32_t parent() const { return parent_; }
  std::uint64_t start_ticks() const { return start_ticks_; }
  // When it was read, if it was.
  std::optional<Monotonic> read_at() const { return was_read_ ? read_at_ : std::nullopt; }
  bool is_alive() const { return life_ == Life::alive; }
  bool is_gone() const { return life_ == Life::gone; }

  // Since the look before it; without one there is a reason. Of children that it has waited for too, where they came
  // and went between two looks.
  Reading cpu_percent() const { return cpu_percent_; }
  Reading read_bytes_per_second() const { return read_rate_; }
  Reading written_bytes_per_second() const { return write_rate_; }
  Reading disk_wait_percent() const { return disk_wait_percent_; }
  double memory_bytes() const { return memory_bytes_; }
  bool is_busy() const { return own_share_ >= 0.9; }
  // It did nothing, and waited for nothing that the machine does.
  bool is_idle() const;

 private:
  // `over`: it has ended, and its parent has not waited for it yet.
  enum class Life : std::uint8_t { alive, over, gone };
  struct Counts {
    std::chrono::nanoseconds cpu{0};
    std::chrono::nanoseconds children_cpu{0};
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
    std::uint64_t disk_wait_ticks = 0;
  };
  // What a child had used at its last look, which comes in one lump to its parent's counts.
  struct Ended {
    std::chrono::nanoseconds cpu{0};
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
    int looks = 0;
  };

  bool has_rested(std::optional<std::chrono::nanoseconds> cpu, Monotonic now) const;
  void read_memory(const TreeLook &look, const ProcessStat &stat);
  void read_io(const TreeLook &look);
  void count_waiting_threads(const TreeLook &look, const ProcessStat &stat);
  void set_use(double seconds);
  void set_disk_wait(double seconds);
  Ended take_ended(std::chrono::nanoseconds &growth);

  std::uint32_t pid_;
  std::uint64_t start_ticks_;
  std::uint32_t parent_ = 0;
  Life life_ = Life::alive;
  char state_ = 'S';
  KeptFile stat_file_, io_file_;
  std::optional<clockid_t> clock_;
  bool was_read_ = false;
  std::optional<Monotonic> read_at_;  // when its counts were as they are: read, or it was not there yet
  std::optional<Monotonic> stat_at_;
  std::optional<Monotonic> before_at_;
  Counts counts_, before_;
  std::vector<Ended> ended_;
  std::optional<Reason> no_io_ = Reason::not_sampled;         // why its bytes are not known
  std::optional<Reason> no_io_before_ = Reason::not_sampled;  // at the look before
  bool rested_ = false;
  std::uint64_t resident_pages_ = 0;
  double memory_bytes_ = 0;
  unsigned waiting_threads_ = 0;       // besides the first one
  std::array<unsigned, 5> waiting_{};  // tasks in uninterruptible sleep at the last looks
  std::size_t waits_ = 0;              // how often that was looked at
  double own_share_ = 0;               // of a core, without its children
  Reading cpu_percent_, read_rate_, write_rate_, disk_wait_percent_;
};

}  // namespace gpulse::host

// SPDX-License-Identifier: Apache-2.0
#include "source/host/tree_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <numeric>

#include "base/process_stat.hpp"
#include "base/text.hpp"
#include "source/api/errno_reason.hpp"
#include "source/host/process_clock.hpp"
#include "source/host/process_text.hpp"

namespace gpulse::host {

namespace {

using namespace std::chrono_literals;

// What others change while it sleeps (a new parent, memory swapped out) is seen this late at most.
constexpr auto kStatHolds = 5s;
// Of a process with more threads only the first is asked whether it waits for a disk: each costs a file.
constexpr std::uint64_t kMostThreads = 32;
// A parent that has not waited for a child by then was not the one to do so.
constexpr int kMostLooks = 3;
// Counts in ticks are rounded.
constexpr std::uint64_t kRounding = 2;
// A first thread that sleeps says little about a process that works.
constexpr double kWorks = 0.5;

bool waits_for_disk(char state) { return state == 'D'; }

std::uint64_t growth(std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; }

}  // namespace

TreeProcess::TreeProcess(std::uint32_t pid, std::uint64_t start_ticks, std::optional<Monotonic> started_after)
    : pid_(pid), start_ticks_(start_ticks), read_at_(started_after) {
  // It has used nothing before it was there.
  if (started_after) no_io_.reset();
}

// No CPU time used since then: it is the same process, in the same state, and has not moved a byte.
bool TreeProcess::has_rested(std::optional<std::chrono::nanoseconds> cpu, Monotonic now) const {
  return cpu && stat_at_ && *cpu == counts_.cpu && now - *stat_at_ < kStatHolds;
}

void TreeProcess::read(const TreeLook &look) {
  before_ = counts_;
  before_at_ = read_at_;
  no_io_before_ = no_io_;
  read_at_ = look.now;
  was_read_ = true;
  if (!clock_ && look.has_clocks) clock_ = cpu_clock(pid_);
  const auto cpu = clock_ ? time_of(*clock_) : std::nullopt;
  rested_ = has_rested(cpu, look.now);
  if (rested_) return;
  const bool readable = stat_file_.read(look.text, look.root, fmt::format("/proc/{}/stat", pid_));
  const auto stat = readable ? parse_process_stat(look.text) : std::nullopt;
  if (!look.keeps_files) stat_file_.forget();
  if (!stat || stat->start_ticks != start_ticks_) {
    life_ = Life::gone;
    return;
  }
  stat_at_ = look.now;
  state_ = stat->state;
  parent_ = stat->parent;
  counts_.cpu = cpu.value_or(from_ticks(stat->cpu_ticks));
  counts_.children_cpu = from_ticks(stat->children_cpu_ticks);
  if (stat->is_over()) {
    life_ = Life::over;
    return;
  }
  counts_.disk_wait_ticks = disk_wait_ticks(*stat).value_or(0);
  // What follows uses the buffer that the name of `stat` lies in; its numbers stay.
  read_memory(look, *stat);
  read_io(look);
  count_waiting_threads(look, *stat);
}

// As ProcessTable has it: the count in stat may be off by many pages per processor.
void TreeProcess::read_memory(const TreeLook &look, const ProcessStat &stat) {
  if (memory_bytes_ > 0 && stat.resident_pages == resident_pages_) return;
  const bool exact = look.root.read_piece(look.text, fmt::format("/proc/{}/statm", pid_));
  const auto pages = exact ? parse_resident_pages(look.text) : std::nullopt;
  memory_bytes_ = static_cast<double>(pages.value_or(stat.resident_pages)) * page_bytes();
  resident_pages_ = stat.resident_pages;
}

void TreeProcess::read_io(const TreeLook &look) {
  if (!look.wants_io) {
    no_io_ = Reason::no_permission;
    return;
  }
  if (!io_file_.read(look.text, look.root, fmt::format("/proc/{}/io", pid_))) {
    const auto reason = errno_reason(errno);
    // It ends just now: its counts are as they were.
    const bool ends = reason == Reason::lost || !look.root.exists(fmt::format("/proc/{}/stat", pid_));
    if (!ends) no_io_ = reason;
    return;
  }
  const auto io = parse_process_io(look.text);
  if (!look.keeps_files) io_file_.forget();
  no_io_ = io ? std::nullopt : std::optional(Reason::error);
  if (!io) return;
  counts_.read_bytes = io->read_bytes;
  counts_.written_bytes = io->written_bytes;
}

void TreeProcess::count_waiting_threads(const TreeLook &look, const ProcessStat &stat) {
  waiting_threads_ = 0;
  if (stat.threads < 2 || stat.threads > kMostThreads) return;
  const auto folder = fmt::format("/proc/{}/task", pid_);
  for (const auto &thread : look.root.list(folder)) {
    if (thread == std::to_string(pid_)) continue;
    if (!look.root.read_piece(look.text, fmt::format("{}/{}/stat", folder, thread))) continue;
    const auto one = parse_process_stat(look.text);
    if (one && waits_for_disk(one->state)) ++waiting_threads_;
  }
}

void TreeProcess::hand_over(TreeProcess &ancestor) const {
  ancestor.ended_.push_back({.cpu = counts_.cpu + counts_.children_cpu,
                             .read_bytes = counts_.read_bytes,
                             .written_bytes = counts_.written_bytes});
  for (const auto &other : ended_) ancestor.ended_.push_back(other);
}

// What is in the counts now of children that were counted while they were alive; `growth` of the children's CPU time
// loses their part.
TreeProcess::Ended TreeProcess::take_ended(std::chrono::nanoseconds &growth) {
  Ended sum;
  std::erase_if(ended_, [&](Ended &one) {
    if (growth + from_ticks(kRounding) < one.cpu) return ++one.looks >= kMostLooks;
    growth = std::max(growth - one.cpu, std::chrono::nanoseconds(0));
    sum.read_bytes += one.read_bytes;
    sum.written_bytes += one.written_bytes;
    return true;
  });
  return sum;
}

void TreeProcess::settle() {
  own_share_ = 0;
  if (!before_at_ || *read_at_ <= *before_at_) {
    cpu_percent_ = disk_wait_percent_ = Reason::not_sampled;
    read_rate_ = write_rate_ = no_io_.value_or(Reason::not_sampled);
    return;
  }
  const auto seconds = Seconds(*read_at_ - *before_at_).count();
  set_use(seconds);
  set_disk_wait(seconds);
}

void TreeProcess::set_use(double seconds) {
  const auto own = std::max(counts_.cpu - before_.cpu, std::chrono::nanoseconds(0));
  auto children = std::max(counts_.children_cpu - before_.children_cpu, std::chrono::nanoseconds(0));
  const auto ended = take_ended(children);
  own_share_ = Seconds(own).count() / seconds;
  cpu_percent_ = 100 * Seconds(own + children).count() / seconds;
  if (no_io_ || no_io_before_) {
    read_rate_ = write_rate_ = no_io_.value_or(Reason::not_sampled);
    return;
  }
  const auto rate = [&](std::uint64_t now, std::uint64_t before, std::uint64_t handed_over) {
    return Reading(static_cast<double>(growth(growth(now, before), handed_over)) / seconds);
  };
  read_rate_ = rate(counts_.read_bytes, before_.read_bytes, ended.read_bytes);
  write_rate_ = rate(counts_.written_bytes, before_.written_bytes, ended.written_bytes);
}

void TreeProcess::set_disk_wait(double seconds) {
  const bool first_waits = waits_for_disk(state_);
  // The kernel counts a wait when it is over, and only where it was told to.
  const bool counts = counts_.disk_wait_ticks > 0;
  double share = 0;
  if (counts) {
    const auto waited = from_ticks(growth(counts_.disk_wait_ticks, before_.disk_wait_ticks));
    share = rested_ && first_waits ? 1 : std::min(1.0, Seconds(waited).count() / seconds);
  }
  waiting_.at(waits_ % waiting_.size()) = waiting_threads_ + (first_waits && !counts ? 1 : 0);
  ++waits_;
  const auto looks = static_cast<double>(std::min(waits_, waiting_.size()));
  disk_wait_percent_ = 100 * (share + std::accumulate(waiting_.begin(), waiting_.end(), 0U) / looks);
}

bool TreeProcess::is_idle() const {
  return state_ != 'R' && !waits_for_disk(state_) && waiting_threads_ == 0 && own_share_ < kWorks;
}

}  // namespace gpulse::host

// SPDX-License-Identifier: Apache-2.0
#include "cli/process_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/process_stat.hpp"
#include "base/sysroot.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 2s;
constexpr std::size_t kMostMembers = 4096;

// One that nobody may read makes the sum unknown.
void add(Reading &sum, const Reading &more) {
  sum = sum && more ? Reading(sum.value() + more.value()) : sum ? more : sum;
}

// Some parents have their children reaped by the kernel, which counts them nowhere: what was counted stays.
void keep_most(Reading &now, const Reading &before) {
  if (now && before && before.value() > now.value()) now = before;
}

}  // namespace

bool descends_from(std::uint32_t pid, std::uint32_t ancestor) {
  constexpr int kMostGenerations = 64;
  std::string text;
  for (int i = 0; i < kMostGenerations && pid > 1; ++i) {
    if (pid == ancestor) return true;
    if (!Sysroot().read_piece(text, fmt::format("/proc/{}/stat", pid))) return false;
    const auto stat = parse_process_stat(text);
    pid = stat ? stat->parent : 0;
  }
  return false;
}

bool ProcessTree::contains(const Process &process) {
  constexpr std::size_t kMost = 100'000;
  if (process.foreign) return false;
  if (known_.size() > kMost) known_.clear();
  const auto [found, fresh] = known_.try_emplace({process.pid, process.start_ticks});
  if (!fresh) return found->second;
  const auto member = members_.find(process.pid);
  const bool is_member =
      member != members_.end() && (process.start_ticks == 0 || member->second == process.start_ticks);
  found->second = is_member || descends_from(process.pid, root_);
  if (!found->second && !mark_.empty()) {
    // Words of an environment end with a zero each.
    const auto words = Sysroot().read(fmt::format("/proc/{}/environ", process.pid)).value_or("");
    found->second = ('\0' + words).contains('\0' + mark_ + '\0');
  }
  if (found->second && process.start_ticks != 0) members_.try_emplace(process.pid, process.start_ticks);
  return found->second;
}

Snapshot ProcessTree::part_of(const Snapshot &snapshot) {
  Snapshot part = snapshot;
  std::erase_if(part.processes, [&](const Process &process) { return !contains(process); });
  return part;
}

// The kernel lists the children of each thread.
void ProcessTree::look_for_children() {
  std::vector<std::uint32_t> open{root_};
  for (const auto &[pid, start] : members_) open.push_back(pid);
  while (!open.empty() && members_.size() < kMostMembers) {
    const auto pid = open.back();
    open.pop_back();
    if (!members_.contains(pid)) {
      if (!Sysroot().read_piece(text_, fmt::format("/proc/{}/stat", pid))) continue;
      const auto stat = parse_process_stat(text_);
      if (!stat) continue;
      members_.emplace(pid, stat->start_ticks);
    }
    for (const auto &thread : Sysroot().list(fmt::format("/proc/{}/task", pid))) {
      if (!Sysroot().read_into(text_, fmt::format("/proc/{}/task/{}/children", pid, thread))) continue;
      for (const auto word : split_words(text_)) {
        const auto child = parse_integer<std::uint32_t>(word);
        if (child && !members_.contains(*child)) open.push_back(*child);
      }
    }
  }
}

// None: it is gone, or another one has its number.
std::optional<ProcessTree::Counts> ProcessTree::counts_of(std::uint32_t pid, std::uint64_t start_ticks) {
  if (!Sysroot().read_piece(text_, fmt::format("/proc/{}/stat", pid))) return std::nullopt;
  const auto stat = parse_process_stat(text_);
  if (!stat || stat->start_ticks != start_ticks) return std::nullopt;
  Counts counts{.cpu_seconds = static_cast<double>(stat->cpu_ticks + stat->children_cpu_ticks) / ticks_per_second(),
                .memory_bytes = static_cast<double>(stat->resident_pages) * page_bytes(),
                .read_bytes = Reason::no_permission,
                .written_bytes = Reason::no_permission,
                .over = stat->is_over()};
  if (Sysroot().read_piece(text_, fmt::format("/proc/{}/io", pid))) {
    const auto io = parse_process_io(text_);
    counts.read_bytes = io ? Reading(static_cast<double>(io->read_bytes)) : Reading(Reason::not_supported);
    counts.written_bytes = io ? Reading(static_cast<double>(io->written_bytes)) : Reading(Reason::not_supported);
  } else if (errno == ENOENT || errno == ESRCH) {
    counts.read_bytes = counts.written_bytes = Reason::not_supported;
  }
  return counts;
}

insight::JobUse ProcessTree::use(Monotonic now) {
  if (now >= next_look_) {
    look_for_children();
    next_look_ = now + kLookEvery;
  }
  insight::JobUse use{.cpu_seconds = 0, .read_bytes = 0, .written_bytes = 0, .memory_bytes = 0};
  for (auto member = members_.begin(); member != members_.end();) {
    const auto counts = counts_of(member->first, member->second);
    if (!counts) {
      member = members_.erase(member);
      continue;
    }
    add(use.cpu_seconds, counts->cpu_seconds);
    add(use.memory_bytes, counts->memory_bytes);
    add(use.read_bytes, counts->read_bytes);
    add(use.written_bytes, counts->written_bytes);
    if (!counts->over) ++use.processes;
    ++member;
  }
  if (members_.empty()) return last_;
  keep_most(use.cpu_seconds, last_.cpu_seconds);
  keep_most(use.read_bytes, last_.read_bytes);
  keep_most(use.written_bytes, last_.written_bytes);
  return last_ = use;
}

}  // namespace gpulse::cli

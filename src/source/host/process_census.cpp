// SPDX-License-Identifier: Apache-2.0
#include "source/host/process_census.hpp"

#include <dirent.h>
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/process_stat.hpp"
#include "base/text.hpp"
#include "source/host/process_clock.hpp"

namespace gpulse::host {

namespace {

// A container's own /proc/loadavg may be seconds late, and restored processes have any pid: nothing is missed for
// longer than this.
constexpr auto kListHolds = std::chrono::seconds(10);
constexpr std::size_t kMost = 1U << 18U;

using Folder = std::unique_ptr<DIR, int (*)(DIR *)>;

struct Listed {
  std::uint32_t pid = 0;
  long place = 0;  // in the list
};

// The next in an open /proc, in rising order; none: that was the last.
std::optional<Listed> next_process(DIR *folder) {
  for (;;) {
    const auto place = ::telldir(folder);
    const dirent *entry = ::readdir(folder);
    if (entry == nullptr) return std::nullopt;
    if (const auto pid = parse_integer<std::uint32_t>(&entry->d_name[0])) return Listed{*pid, place};
  }
}

}  // namespace

std::optional<std::uint32_t> parse_last_pid(std::string_view loadavg) {
  for (int i = 0; i < 4; ++i) next_word(loadavg);
  const auto pid = parse_integer<std::uint32_t>(next_word(loadavg));
  return pid && *pid > 0 ? pid : std::nullopt;
}

ProcessCensus::ProcessCensus(Sysroot root) : root_(std::move(root)), own_proc_(is_own_proc(root_)) {}

std::optional<std::uint32_t> ProcessCensus::read_last_pid() {
  // That of another pid namespace means nothing.
  if (!own_proc_ || !loadavg_.read(text_, root_, "/proc/loadavg")) return std::nullopt;
  return parse_last_pid(text_);
}

void ProcessCensus::update(Monotonic now) {
  updated_ = now;
  const auto last = read_last_pid();
  const bool full = !last || !last_pid_ || !listed_all_ || now - *listed_all_ >= kListHolds;
  // The numbers have begun anew: one that was given before may be another process now.
  const bool wrapped = last && last_pid_ && *last < *last_pid_;
  if (full || wrapped) {
    list_all(last, wrapped || !own_proc_, now);
  } else if (*last != *last_pid_) {
    list_new(*last_pid_, *last);
  }
  last_pid_ = last;
}

void ProcessCensus::list_all(std::optional<std::uint32_t> last, bool read_again, Monotonic now) {
  const Folder folder(::opendir(root_.path("/proc").c_str()), &::closedir);
  if (!folder) return;
  ++lists_;
  listed_all_ = now;
  at_last_.reset();
  if (read_again) known_.clear();
  while (const auto listed = next_process(folder.get())) {
    const auto pid = listed->pid;
    if (last && pid <= *last) at_last_ = listed->place;
    if (!known_.contains(pid) && !add(pid)) continue;
    known_[pid].listed = lists_;
  }
  std::erase_if(known_, [&](const auto &one) { return one.second.listed != lists_; });
  children_.clear();
  for (const auto &[pid, known] : known_) children_[known.parent].push_back(pid);
}

void ProcessCensus::list_new(std::uint32_t after, std::uint32_t last) {
  const Folder folder(::opendir(root_.path("/proc").c_str()), &::closedir);
  if (!folder) return;
  // The place of one that was there, not the one behind it: that is where the next one was then.
  if (at_last_) ::seekdir(folder.get(), *at_last_);
  while (const auto listed = next_process(folder.get())) {
    const auto pid = listed->pid;
    if (pid > last) break;
    at_last_ = listed->place;
    if (pid > after && add(pid)) children_[known_[pid].parent].push_back(pid);
  }
}

bool ProcessCensus::add(std::uint32_t pid) {
  if (known_.size() >= kMost || !root_.read_piece(text_, fmt::format("/proc/{}/stat", pid))) return false;
  const auto stat = parse_process_stat(text_);
  if (!stat || stat->is_over()) return false;
  known_[pid] = {.parent = stat->parent, .start_ticks = stat->start_ticks, .listed = lists_};
  ++generation_;
  return true;
}

std::optional<std::uint64_t> ProcessCensus::start_of(std::uint32_t pid) const {
  const auto known = known_.find(pid);
  return known != known_.end() ? std::optional(known->second.start_ticks) : std::nullopt;
}

void ProcessCensus::add_children(std::uint32_t pid, std::vector<std::uint32_t> &out) const {
  const auto listed = children_.find(pid);
  const auto start = start_of(pid);
  if (listed == children_.end() || !start) return;
  for (const auto child : listed->second) {
    const auto known = known_.find(child);
    // One that is older than its parent was started by another process of that pid.
    if (known == known_.end() || known->second.parent != pid || known->second.start_ticks < *start) continue;
    out.push_back(child);
  }
}

}  // namespace gpulse::host

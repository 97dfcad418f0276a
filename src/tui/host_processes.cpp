// SPDX-License-Identifier: Apache-2.0
#include "tui/host_processes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/process_stat.hpp"
#include "base/text.hpp"
#include "base/user.hpp"
#include "term/width.hpp"

namespace gpulse::tui {

namespace {

std::vector<std::uint32_t> process_numbers(const Sysroot &root) {
  std::vector<std::uint32_t> numbers;
  for (const auto &name : root.list("/proc")) {
    if (const auto number = parse_integer<std::uint32_t>(name)) numbers.push_back(*number);
  }
  return numbers;
}

// Between two looks: less says little about how busy a process is.
constexpr auto kLeast = std::chrono::milliseconds(400);

Reading rate(std::uint64_t now, std::uint64_t before, double seconds) {
  return now >= before && seconds > 0 ? Reading(static_cast<double>(now - before) / seconds) : Reading();
}

// The arguments with blanks between them; a kernel thread has none, only a name.
std::string command_of(std::string arguments, std::string_view name) {
  while (!arguments.empty() && arguments.back() == '\0') arguments.pop_back();
  std::ranges::replace(arguments, '\0', ' ');
  return term::clean(arguments.empty() ? fmt::format("[{}]", name) : arguments);
}

}  // namespace

// The owner of the folder is the effective user, unless the process may not be looked into: then it is root's.
std::string HostProcesses::user_of(std::uint32_t pid) {
  const auto status = root_.read(fmt::format("/proc/{}/status", pid), 4096).value_or("");
  const auto at = status.find("\nUid:");
  if (at == std::string::npos) return {};
  const auto words = split_words(std::string_view(status).substr(at + 5, 80));
  const auto number = words.size() > 1 ? parse_integer<std::uint32_t>(words[1]) : std::nullopt;
  if (!number) return {};
  const auto [entry, is_new] = users_.try_emplace(*number);
  if (is_new) {
    const auto name = user_name(*number).value_or("");
    entry->second = name.empty() ? fmt::format("{}", *number) : name;
  }
  return entry->second;
}

bool HostProcesses::read(std::uint32_t pid, double seconds, double uptime, HostProcess &process, Counts &counts) {
  constexpr std::size_t kLongestCommand = 1024;
  if (!root_.read_piece(text_, fmt::format("/proc/{}/stat", pid))) return false;
  const auto stat = parse_process_stat(text_);
  if (!stat) return false;
  const auto before = counts_.find(pid);
  const bool known = before != counts_.end() && before->second.start_ticks == stat->start_ticks;
  process.pid = pid;
  process.parent = stat->parent;
  process.state = stat->state;
  process.memory_bytes = static_cast<double>(stat->resident_pages) * page_bytes();
  process.running_seconds = std::max(0.0, uptime - static_cast<double>(stat->start_ticks) / ticks_per_second());
  counts = {.start_ticks = stat->start_ticks, .cpu_ticks = stat->cpu_ticks};
  if (known && seconds > 0) {
    process.cpu_percent =
        100 * rate(stat->cpu_ticks, before->second.cpu_ticks, seconds).value_or(0) / ticks_per_second();
    // Names and owners of those that were there before are kept, because they are many.
    const auto old = all_.find(pid);
    if (old != all_.end()) {
      process.command = old->second.command;
      process.user = old->second.user;
    }
  }
  if (process.command.empty()) {
    const std::string name(stat->name);
    process.command = command_of(root_.read(fmt::format("/proc/{}/cmdline", pid), kLongestCommand).value_or(""), name);
    process.user = user_of(pid);
  }
  process.read_bytes_per_second = process.written_bytes_per_second = Reason::no_permission;
  if (root_.read_piece(text_, fmt::format("/proc/{}/io", pid))) {
    if (const auto io = parse_process_io(text_)) {
      counts.has_io = true;
      counts.read_bytes = io->read_bytes;
      counts.written_bytes = io->written_bytes;
      const bool had_io = known && before->second.has_io;
      process.read_bytes_per_second = had_io ? rate(io->read_bytes, before->second.read_bytes, seconds) : Reading();
      process.written_bytes_per_second =
          had_io ? rate(io->written_bytes, before->second.written_bytes, seconds) : Reading();
    }
  }
  return true;
}

void HostProcesses::look(Monotonic now) {
  if (has_looked_ && now - looked_ < kLeast) return;
  const double seconds = has_looked_ ? Seconds(now - looked_).count() : 0;
  const auto words = root_.read("/proc/uptime", 64).value_or("");
  const double uptime = parse_double(std::string_view(words).substr(0, words.find(' '))).value_or(0);
  std::map<std::uint32_t, HostProcess> all;
  std::map<std::uint32_t, Counts> counts;
  for (const auto pid : process_numbers(root_)) {
    HostProcess process;
    Counts now_counts;
    if (!read(pid, seconds, uptime, process, now_counts)) continue;
    all.emplace(pid, std::move(process));
    counts.emplace(pid, now_counts);
  }
  all_ = std::move(all);
  counts_ = std::move(counts);
  looked_ = now;
  has_looked_ = true;
}

std::vector<const HostProcess *> HostProcesses::below(std::uint32_t pid) const {
  std::multimap<std::uint32_t, const HostProcess *> children;
  for (const auto &[number, process] : all_) children.emplace(process.parent, &process);
  std::vector<const HostProcess *> found;
  std::vector<std::uint32_t> pending{pid};
  while (!pending.empty() && found.size() <= all_.size()) {
    const auto parent = pending.back();
    pending.pop_back();
    for (auto [at, end] = children.equal_range(parent); at != end; ++at) {
      if (at->second->pid == parent) continue;
      found.push_back(at->second);
      pending.push_back(at->second->pid);
    }
  }
  std::ranges::stable_sort(found, [](const HostProcess *a, const HostProcess *b) {
    return a->cpu_percent.value_or(-1) > b->cpu_percent.value_or(-1);
  });
  return found;
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
#include "source/drm/device_users.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/process_stat.hpp"
#include "base/text.hpp"

namespace gpulse::drm {

namespace {

using namespace std::chrono_literals;

// All cards of all sources ask within one tick, and share one listing of /proc.
constexpr auto kListAtMostEvery = 50ms;
// How long after one scan a new process is scanned again.
constexpr std::array<std::chrono::nanoseconds, 2> kRescanAfter{1s, 2s};
// Some programs open a node every second: that must not cause a full scan each time.
constexpr auto kFullScanAtMostEvery = 3s;
constexpr std::size_t kListBytes = 1U << 18U;

std::optional<Node> node_of_path(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  const auto minor_after = [&](std::string_view prefix) {
    return name.starts_with(prefix) ? parse_integer<std::uint32_t>(name.substr(prefix.size())) : std::nullopt;
  };
  if (path.starts_with("/dev/dri/")) {
    if (const auto minor = minor_after("renderD")) return Node{kDrmMajor, *minor};
    if (const auto minor = minor_after("card")) return Node{kDrmMajor, *minor};
  }
  if (path.starts_with("/dev/accel/")) {
    if (const auto minor = minor_after("accel")) return Node{kAccelMajor, *minor};
  }
  return std::nullopt;
}

std::optional<Node> node_of_link(int folder, const char *name) {
  std::array<char, 256> target{};
  const auto length = ::readlinkat(folder, name, target.data(), target.size());
  if (length <= 0) return std::nullopt;
  return node_of_path({target.data(), static_cast<std::size_t>(length)});
}

std::optional<Node> node_of_file(int folder, const char *name) {
  struct statx facts{};
  // Not synchronised: an open file may be on a server that does not respond.
  if (::statx(folder, name, AT_STATX_DONT_SYNC, STATX_TYPE, &facts) != 0) return std::nullopt;
  if (!S_ISCHR(facts.stx_mode)) return std::nullopt;
  if (facts.stx_rdev_major != kDrmMajor && facts.stx_rdev_major != kAccelMajor) return std::nullopt;
  return Node{facts.stx_rdev_major, facts.stx_rdev_minor};
}

// Calls visit(number, name) for every entry of the folder that is a number. False when it cannot be listed.
template <class Visit>
bool for_each_number(int folder, bool procfs, std::vector<char> &buffer, Visit visit) {
  buffer.resize(kListBytes);
  for (;;) {
    const auto got = ::getdents64(folder, buffer.data(), buffer.size());
    if (got < 0) return false;
    if (got == 0) return true;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      decltype(dirent64::d_reclen) length{};
      std::memcpy(&length, &buffer[at + offsetof(dirent64, d_reclen)], sizeof length);
      const char *name = &buffer[at + offsetof(dirent64, d_name)];
      if (const auto number = parse_integer<std::uint32_t>(name)) visit(*number, name);
      at += length;
    }
    // /proc fills the buffer as far as it can: when there is room for another name, there is none.
    if (procfs && static_cast<std::size_t>(got) + sizeof(dirent64) <= buffer.size()) return true;
  }
}

}  // namespace

struct DeviceUsers::Process {
  struct Held {
    std::uint32_t fd;
    Node node;
  };
  std::uint32_t pid = 0;
  std::uint32_t scans = 0;    // 0: none yet
  std::uint32_t rescans = 0;  // how many of kRescanAfter are done
  bool denied = false;
  bool stale = false;             // see rescan()
  std::optional<Monotonic> next;  // none: with the next full scan
  std::uint64_t start_ticks = 0;
  std::vector<Held> held;

  bool is_due(Monotonic now) const { return scans == 0 || stale || (next && now >= *next); }
  bool is_likely() const { return !held.empty() || next; }
};

DeviceUsers::DeviceUsers(const Sysroot &root) : root_(root) {}
DeviceUsers::~DeviceUsers() = default;

void DeviceUsers::watch_nodes() {
  if (!root_.is_machine()) return;
  events_ = UniqueFd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!events_) return;
  for (const auto *folder : {"/dev/dri", "/dev/accel"}) ::inotify_add_watch(events_.get(), folder, IN_OPEN);
}

// Whether a node was opened since the last call.
bool DeviceUsers::take_open_events() {
  bool opened = false;
  alignas(inotify_event) std::array<char, 4096> buffer{};
  while (events_) {
    // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): it was opened not to block
    const auto got = ::read(events_.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, &buffer[at], sizeof event);
      // Listing the folder opens it too.
      opened = opened || (event.mask & IN_ISDIR) == 0;
      at += sizeof event + event.len;
    }
  }
  return opened;
}

// False when /proc cannot be listed. Processes that are still there keep what is known of them.
bool DeviceUsers::list_processes() {
  if (!proc_) proc_ = UniqueFd(::open(root_.path("/proc").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc_ || ::lseek(proc_.get(), 0, SEEK_SET) != 0) return false;
  listed_.clear();
  if (!for_each_number(proc_.get(), root_.is_machine(), entries_,
                       [&](std::uint32_t pid, const char *) { listed_.push_back(pid); })) {
    return false;
  }
  if (!std::is_sorted(listed_.begin(), listed_.end())) std::sort(listed_.begin(), listed_.end());
  // With hidepid /proc shows none of other users' processes, not even pid 1.
  some_hidden_ = root_.is_machine() && (listed_.empty() || listed_.front() != 1);
  const auto same = [](const Process &process, std::uint32_t pid) { return process.pid == pid; };
  if (std::equal(processes_.begin(), processes_.end(), listed_.begin(), listed_.end(), same)) return true;
  std::vector<Process> next;
  next.reserve(listed_.size());
  auto old = processes_.begin();
  for (const auto pid : listed_) {
    while (old != processes_.end() && old->pid < pid) ++old;
    if (old != processes_.end() && old->pid == pid) {
      next.push_back(std::move(*old));
    } else {
      next.push_back({});
      next.back().pid = pid;
      // Most processes of the first listing have been running for a while.
      if (!updated_) next.back().rescans = kRescanAfter.size();
    }
  }
  processes_ = std::move(next);
  return true;
}

void DeviceUsers::scan(Process &process, Monotonic now) {
  ++process.scans;
  process.stale = false;
  process.held.clear();
  const auto folder = fmt::format("/proc/{}", process.pid);
  const UniqueFd files(::open(root_.path(folder + "/fd").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  process.denied = !files && (errno == EACCES || errno == EPERM);
  if (files) {
    for_each_number(files.get(), root_.is_machine(), entries_, [&](std::uint32_t fd, const char *name) {
      const auto node = root_.is_machine() ? node_of_file(files.get(), name) : node_of_link(files.get(), name);
      if (node) process.held.push_back({fd, *node});
    });
    std::sort(process.held.begin(), process.held.end(), [](const auto &a, const auto &b) { return a.fd < b.fd; });
  }
  process.next.reset();
  if (process.rescans < kRescanAfter.size()) process.next = now + kRescanAfter[process.rescans++];
  if (process.held.empty()) return;
  if (!root_.read_piece(text_, folder + "/stat")) return;
  if (const auto stat = parse_process_stat(text_)) process.start_ticks = stat->start_ticks;
}

void DeviceUsers::scan_all_locked(Monotonic now) {
  for (auto &process : processes_) scan(process, now);
  last_full_scan_ = now;
  node_opened_ = false;
}

void DeviceUsers::update(Monotonic now) {
  if (updated_ && now >= *updated_ && now - *updated_ < kListAtMostEvery) return;
  if (!updated_) watch_nodes();
  if (!list_processes()) return;
  const bool opened = take_open_events();
  node_opened_ = node_opened_ || opened;
  if (!updated_ || (node_opened_ && now - *last_full_scan_ >= kFullScanAtMostEvery)) {
    scan_all_locked(now);
  } else {
    for (auto &process : processes_) {
      if (process.is_due(now) || (opened && process.is_likely())) scan(process, now);
    }
  }
  updated_ = now;
}

bool DeviceUsers::collect(std::span<const Node> nodes, Monotonic now, std::vector<OpenNode> &out) {
  out.clear();
  const std::lock_guard lock(mutex_);
  update(now);
  for (const auto &process : processes_) {
    for (const auto &[fd, node] : process.held) {
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) continue;
      out.push_back(
          {.pid = process.pid, .fd = fd, .node = node, .start_ticks = process.start_ticks, .scan = process.scans});
    }
  }
  return updated_.has_value();
}

void DeviceUsers::scan_all(Monotonic now) {
  const std::lock_guard lock(mutex_);
  update(now);
  if (last_full_scan_ && now - *last_full_scan_ < kFullScanAtMostEvery) return;
  scan_all_locked(now);
}

void DeviceUsers::rescan(std::uint32_t pid) {
  const std::lock_guard lock(mutex_);
  const auto at = std::lower_bound(processes_.begin(), processes_.end(), pid,
                                   [](const Process &process, std::uint32_t wanted) { return process.pid < wanted; });
  if (at != processes_.end() && at->pid == pid) at->stale = true;
}

std::size_t DeviceUsers::denied_count() const {
  const std::lock_guard lock(mutex_);
  const auto count =
      std::count_if(processes_.begin(), processes_.end(), [](const Process &process) { return process.denied; });
  return static_cast<std::size_t>(count) + (some_hidden_ ? 1 : 0);
}

}  // namespace gpulse::drm

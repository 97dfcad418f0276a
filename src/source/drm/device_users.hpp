// SPDX-License-Identifier: Apache-2.0
// Which processes have which graphics or accelerator nodes open, from /proc alone, without calling a driver. All
// sources share one object; all functions may be called from any thread.
//
// Cost: /proc is listed once per tick, however many sources ask. To scan a process is to list its open files. New
// processes are scanned at once and again one and three seconds later, because a program opens the device some time
// after its start. All others are scanned every ten seconds by scan_all(), and when inotify reports that a node was
// opened, which it does not for nodes inside a container. After such a report, processes that have nodes open and new
// processes are scanned first.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/sysroot.hpp"
#include "base/unique_fd.hpp"
#include "source/drm/card.hpp"

namespace gpulse::drm {

// One open file of one process.
struct OpenNode {
  std::uint32_t pid = 0;
  std::uint32_t fd = 0;
  Node node;
  std::uint64_t start_ticks = 0;  // start time of the process: tells it from a later one with the same pid
  std::uint32_t scan = 0;         // number of the scan it was seen in: the fd may be another file in the next
};

class DeviceUsers {
 public:
  explicit DeviceUsers(const Sysroot &root);
  DeviceUsers(const DeviceUsers &) = delete;
  DeviceUsers &operator=(const DeviceUsers &) = delete;
  ~DeviceUsers();

  // Collects the open files of these nodes, ordered by pid and fd. False when /proc cannot be listed.
  bool collect(std::span<const Node> nodes, Monotonic now, std::vector<OpenNode> &out);
  // Scans every process, unless that was done a moment ago. For a slow reader.
  void scan_all(Monotonic now);
  // Has the process scanned again, because one of its files turned out to be another one.
  void rescan(std::uint32_t pid);
  // How many processes could not be scanned; at least one when /proc hides other users' processes.
  std::size_t denied_count() const;

 private:
  struct Process;

  void update(Monotonic now);
  bool list_processes();
  void scan(Process &process, Monotonic now);
  void scan_all_locked(Monotonic now);
  void watch_nodes();
  bool take_open_events();

  Sysroot root_;
  mutable std::mutex mutex_;
  UniqueFd proc_;
  UniqueFd events_;
  std::vector<std::uint32_t> listed_;  // buffers are kept, so that a tick allocates nothing
  std::vector<char> entries_;
  std::string text_;
  std::vector<Process> processes_;  // by pid
  std::optional<Monotonic> updated_;
  std::optional<Monotonic> last_full_scan_;
  bool some_hidden_ = false;
  bool node_opened_ = false;  // since the last full scan
};

}  // namespace gpulse::drm

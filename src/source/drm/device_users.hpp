// SPDX-License-Identifier: Apache-2.0
// Who has which graphics or accelerator node open: found in /proc alone, without a call to a driver. One object serves
// all sources; all functions may be called from any thread.
//
// What it costs: a tick lists /proc once, whoever asks, and looks into the processes that are new: at once, and again
// after one and three seconds, since a program opens the device some time after it starts. All others are looked into
// every ten seconds by look_everywhere(), and when the kernel says that somebody opened a node: an inotify watch on the
// folders of the nodes, which does not see those of a container. Then those that have a node open, and the new ones,
// come first.
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
  std::uint64_t start_ticks = 0;  // when the process started: tells it from a later one of the same number
  std::uint32_t look = 0;         // which look into the process this is from: the number may be another file since
};

class DeviceUsers {
 public:
  explicit DeviceUsers(const Sysroot &root);
  DeviceUsers(const DeviceUsers &) = delete;
  DeviceUsers &operator=(const DeviceUsers &) = delete;
  ~DeviceUsers();

  // Those who have one of the nodes open, by pid and fd. False when /proc cannot be listed: nothing is known.
  bool collect(std::span<const Node> nodes, Monotonic now, std::vector<OpenNode> &out);
  // Into every process; for a slow reader. Does nothing when it was done a moment ago.
  void look_everywhere(Monotonic now);
  // A file of the process was not what it should be: it is looked into again.
  void doubt(std::uint32_t pid);
  // How many processes may not be looked into; at least one where /proc hides those of others.
  std::size_t denied() const;

 private:
  struct Process;

  void update(Monotonic now);
  bool list_processes();
  void look(Process &process, Monotonic now);
  void look_at_all(Monotonic now);
  void watch_nodes();
  bool somebody_opened();

  Sysroot root_;
  mutable std::mutex mutex_;
  UniqueFd proc_;
  UniqueFd events_;
  std::vector<std::uint32_t> listed_;  // kept, so that a tick allocates nothing
  std::vector<char> entries_;
  std::string text_;
  std::vector<Process> processes_;  // by pid
  std::optional<Monotonic> updated_;
  std::optional<Monotonic> looked_everywhere_;
  bool some_hidden_ = false;
  bool somewhere_ = false;  // a node was opened, and not everybody has been looked into since
};

}  // namespace gpulse::drm

// SPDX-License-Identifier: Apache-2.0
// What /proc tells about a process that a driver named: who runs it, what it is, what it costs the host.
// Facts that do not change are read once per process (pid and start time). Safe to call from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/sysroot.hpp"
#include "model/snapshot.hpp"

namespace gpulse::host {

class ProcessTable {
 public:
  explicit ProcessTable(Sysroot root);
  ~ProcessTable();

  // Fills the process's texts, the flags `foreign` and `gone`, and the host's part of its row (CPU, memory, age).
  // CPU is the use since the look-up before; look-ups closer than 20 ms give the same answer.
  void look_up(Process &process, Monotonic now);

  // Forgets processes that were not looked up since `since`.
  void forget_unseen(Monotonic since);

  // A pid that a driver gives is of the first pid namespace; false means that ours is another one.
  bool sees_host_pids() const { return sees_host_pids_; }

 private:
  struct Entry;
  Sysroot root_;
  bool sees_host_pids_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Entry>> entries_;
};

}  // namespace gpulse::host

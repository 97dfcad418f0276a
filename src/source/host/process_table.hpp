// SPDX-License-Identifier: Apache-2.0
// What /proc tells about a process that a driver named: who runs it, what it is, what it costs the host.
// Facts that do not change are read once per process (pid and start time). Safe to call from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/process_stat.hpp"
#include "base/sysroot.hpp"
#include "model/snapshot.hpp"
#include "source/host/process_text.hpp"
#include "source/host/users.hpp"

namespace gpulse::host {

class ProcessTable {
 public:
  explicit ProcessTable(Sysroot root);
  ~ProcessTable();

  // Fills the process's texts, the flags `foreign` and `gone`, its start, and the host's part of its row (CPU, memory,
  // age, parent, niceness, threads).
  // CPU is the use since the look-up before; look-ups closer than 20 ms give the same answer.
  // `own_namespace`: the pid was found in our /proc, not given by a driver. `name`: what the driver calls it, for one
  // that /proc does not show.
  void look_up(Process &process, Monotonic now, bool own_namespace = false, const std::string &name = {});

  // Forgets processes that were not looked up since `since`.
  void forget_unseen(Monotonic since);

  // A pid that a driver gives is of the first pid namespace; false means that ours is another one.
  bool sees_host_pids() const { return sees_host_pids_; }

 private:
  struct Entry;
  void refresh(Entry &entry, std::uint32_t pid, Monotonic now);
  void let_rest(Entry &entry, std::uint32_t pid, std::chrono::nanoseconds cpu, Monotonic now);
  void refuse(Entry &entry, std::uint32_t pid, int error);
  void measure(Entry &entry, std::uint32_t pid, const ProcessStat &stat, Monotonic now);
  Reading running_seconds(std::uint64_t start_ticks, Monotonic now);
  void read_texts(Entry &entry, std::uint32_t pid, const ProcessStat &stat);
  TextReading read_name(std::uint32_t pid);
  TextReading read_user(const std::string &folder);
  void read_placement(const std::string &folder, TextRow &texts);

  Sysroot root_;
  bool sees_host_pids_;
  bool has_clocks_;   // the kernel tells the processor time of a pid of /proc
  std::mutex mutex_;  // guards all below
  std::unordered_map<std::uint32_t, std::unique_ptr<Entry>> entries_;
  Users users_;
  std::optional<double> uptime_seconds_;
  std::optional<Monotonic> uptime_at_;
  std::string stat_text_;  // buffers are kept, so that a look-up of a known process allocates little
  std::string text_;
};

}  // namespace gpulse::host

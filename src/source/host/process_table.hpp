// SPDX-License-Identifier: Apache-2.0
// What /proc says about a process that a driver named: whose it is, its command, what it costs the host. Facts that do
// not change are read once per process (pid and start time). All functions may be called from any thread.
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
#include "metric/set.hpp"
#include "model/snapshot.hpp"
#include "source/host/framework.hpp"
#include "source/host/process_text.hpp"
#include "source/host/process_trees.hpp"
#include "source/host/users.hpp"

namespace gpulse::host {

// For whom the answers are: whoever runs this program, or everybody on the machine. What only a process's owner may
// read is left out then, and everything where /proc is mounted with hidepid.
enum class Audience : std::uint8_t { self, everybody };

class ProcessTable {
 public:
  // `only`: what is wanted of jobs and frameworks, which cost more than the rest; without it, everything.
  explicit ProcessTable(Sysroot root, Audience audience = Audience::self, const std::optional<MetricSet> &only = {});
  ~ProcessTable();

  // Fills the process's texts, the flags `foreign` and `gone`, its start and inner pids, and the host's part of its row
  // (CPU, memory, age, parent, niceness, threads, and its job's). CPU is the use since the previous look-up; look-ups
  // less than 20 ms apart give the same answer. `own_namespace`: the pid was found in our /proc, not given by a driver.
  // `name`: what the driver calls it, for processes that /proc does not show.
  void look_up(Process &process, Monotonic now, bool own_namespace = false, const std::string &name = {});

  // Adds what an answer for everybody leaves out and we may see: a job that is told in the process's environment, what
  // the process and all that it has started read and write, the framework.
  void add_private(Process &process, Monotonic now);
  // Whether the process of this pid in our /proc has started then.
  bool has_started(std::uint32_t pid, std::uint64_t start_ticks);

  // Forgets processes that were not looked up since `since`.
  void forget_unseen(Monotonic since);

  // Whether a driver's pids, which are from the initial pid namespace, are ours as well.
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
  // Fills the inner pids; returns the user.
  TextReading read_status(Entry &entry, const std::string &folder);
  void read_placement(const std::string &folder, TextRow &texts);
  bool is_hidden_from_others(Monotonic now);
  void look_up_numbers(Process &process, Monotonic now, bool own_namespace, const std::string &name);

  Sysroot root_;
  Audience audience_;
  bool sees_host_pids_;
  bool has_clocks_;  // a pid of /proc can be given to clock_gettime()
  bool wants_framework_;
  Frameworks frameworks_;
  std::mutex mutex_;  // guards everything below
  std::unordered_map<std::uint32_t, std::unique_ptr<Entry>> entries_;
  Users users_;
  ProcessTrees trees_;
  std::optional<double> uptime_seconds_;
  std::optional<Monotonic> uptime_at_;
  bool hidden_ = false;
  std::optional<Monotonic> hidden_at_;
  std::string stat_text_;  // buffers are kept, so that a look-up of a known process allocates little
  std::string text_;
};

}  // namespace gpulse::host

// SPDX-License-Identifier: Apache-2.0
// An agent publishes what every user may see. This adds what we may see beyond that, from our own /proc, and names the
// processes by the pids that we know them by. One thread.
#pragma once

#include "model/snapshot.hpp"
#include "source/host/process_table.hpp"

namespace gpulse::feed {

class OwnView {
 public:
  // `only`: what is looked for; without it, everything.
  explicit OwnView(const std::optional<MetricSet> &only);

  // `pid_namespace`: that of the agent.
  void complete(Snapshot &snapshot, std::uint64_t pid_namespace);

 private:
  void complete(Process &process, bool same_namespace, Monotonic now);
  bool find_inside(Process &process);

  host::ProcessTable table_;
  std::uint64_t pid_namespace_;
  std::optional<std::string> user_;  // none: we are root, and see everything
};

}  // namespace gpulse::feed

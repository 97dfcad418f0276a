// SPDX-License-Identifier: Apache-2.0
// The jobs of processes that use a device: each with all that it has started, and those in turn. Kept by ProcessTable,
// which calls it for each of its processes, one thread at a time. It looks at most once a second, whatever the
// sampling interval: in between the last answer holds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.hpp"
#include "base/sysroot.hpp"
#include "metric/set.hpp"
#include "model/row.hpp"
#include "source/host/cgroup_pressure.hpp"
#include "source/host/process_census.hpp"
#include "source/host/tree_process.hpp"

namespace gpulse::host {

class ProcessTrees {
 public:
  // `only`: what is wanted; without it, everything. `may_read_io`: else nobody is told what a job reads and writes.
  ProcessTrees(Sysroot root, const std::optional<MetricSet> &only, bool may_read_io);
  ~ProcessTrees();

  // Fills the job's part of the row of a process that started then.
  void fill(Row &process, std::uint32_t pid, std::uint64_t start_ticks, Monotonic now);
  // Why there is no job to tell of.
  void refuse(Row &process, Reason reason) const;
  void forget_unseen(Monotonic since);

 private:
  struct Tree;
  using Member = std::shared_ptr<TreeProcess>;
  void look(Tree &tree, Monotonic now);
  void grow(Tree &tree);
  void add(Tree &tree, std::uint32_t pid);
  void measure(Tree &tree, Monotonic now);
  void let_go(const TreeProcess &ended);
  void sum_up(Tree &tree) const;

  Sysroot root_;
  bool wants_sums_;
  bool wants_pressure_;
  bool may_read_io_;
  bool has_clocks_;
  std::size_t most_kept_;  // processes whose files stay open
  ProcessCensus census_;
  std::unordered_map<std::uint32_t, Member> members_;  // of all trees; one inside of another's tree is read once
  std::unordered_map<std::uint32_t, std::unique_ptr<Tree>> trees_;
  std::vector<std::uint32_t> children_;  // buffers
  std::string text_;
};

}  // namespace gpulse::host

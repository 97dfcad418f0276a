// SPDX-License-Identifier: Apache-2.0
#include "source/host/process_trees.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <utility>

#include "source/host/process_clock.hpp"

namespace gpulse::host {

namespace {

using namespace std::chrono_literals;

// A little less than a second, so that a clock that is a little off does not halve the rate.
constexpr auto kLookHolds = 900ms;
// The second look comes sooner: without it there are no rates.
constexpr auto kFirstLookHolds = 50ms;
constexpr auto kCensusHolds = 500ms;
// Looks at one sample's processes are not apart.
constexpr auto kSameLook = 40ms;
constexpr std::size_t kMostMembers = 10'000;

constexpr auto kProcesses = process_metric("tree_processes");
constexpr auto kCpu = process_metric("tree_cpu_percent");
constexpr auto kBusy = process_metric("tree_busy_processes");
constexpr auto kMemory = process_metric("tree_memory_bytes");
constexpr auto kRead = process_metric("tree_read_bytes_per_second");
constexpr auto kWrite = process_metric("tree_write_bytes_per_second");
constexpr auto kDiskWait = process_metric("tree_disk_wait_percent");
constexpr auto kIdle = process_metric("tree_idle_percent");
constexpr std::array kSums{kProcesses, kCpu, kBusy, kMemory, kRead, kWrite, kDiskWait, kIdle};
constexpr std::array kPressures{process_metric("cgroup_pressure_cpu_percent"),
                                process_metric("cgroup_pressure_io_percent"),
                                process_metric("cgroup_pressure_memory_percent")};

// The number of open files is limited, and those of the program that we may be a part of come first.
std::size_t most_kept_processes() {
  constexpr rlim_t kPerProcess = 2, kShare = 8, kMost = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min(limit.rlim_cur / kShare, kMost) / kPerProcess;
}

// A sum that lacks a part is none.
void add_to(Reading &sum, const Reading &part) {
  if (!sum) return;
  sum = part ? Reading(sum.value() + part.value()) : part;
}

}  // namespace

struct ProcessTrees::Tree {
  std::uint32_t pid = 0;
  std::uint64_t start_ticks = 0;
  Monotonic seen{};
  std::optional<Monotonic> looked;
  bool has_rates = false;
  bool too_large = false;
  std::uint64_t generation = 0;             // of the census that it has grown by
  std::vector<Member> members;              // parents come before their children
  std::unordered_set<std::uint32_t> known;  // their pids
  std::array<Reading, kSums.size()> sums;
  CgroupPressure pressure;

  bool is_due(Monotonic now) const { return !looked || now - *looked >= (has_rates ? kLookHolds : kFirstLookHolds); }
};

ProcessTrees::ProcessTrees(Sysroot root, const std::optional<MetricSet> &only, bool may_read_io)
    : root_(std::move(root)),
      wants_sums_(!only || only->contains_any(kSums)),
      wants_pressure_(!only || only->contains_any(kPressures)),
      may_read_io_(may_read_io),
      has_clocks_(is_own_proc(root_)),
      most_kept_(most_kept_processes()),
      census_(root_) {}

ProcessTrees::~ProcessTrees() = default;

void ProcessTrees::fill(Row &process, std::uint32_t pid, std::uint64_t start_ticks, Monotonic now) {
  if (!wants_sums_ && !wants_pressure_) return;
  auto &tree = trees_[pid];
  if (!tree || tree->start_ticks != start_ticks) {
    tree = std::make_unique<Tree>();
    tree->pid = pid;
    tree->start_ticks = start_ticks;
  }
  tree->seen = std::max(tree->seen, now);
  if (tree->is_due(now)) look(*tree, now);
  if (wants_sums_) {
    for (std::size_t i = 0; i < kSums.size(); ++i) process[kSums.at(i)] = tree->sums.at(i);
  }
  if (wants_pressure_) tree->pressure.answer(process);
}

void ProcessTrees::refuse(Row &process, Reason reason) const {
  if (wants_sums_) {
    for (const auto id : kSums) process[id] = reason;
  }
  if (wants_pressure_) {
    for (const auto id : kPressures) process[id] = reason;
  }
}

void ProcessTrees::forget_unseen(Monotonic since) {
  std::erase_if(trees_, [&](const auto &tree) { return tree.second->seen < since; });
  std::erase_if(members_, [](const auto &member) { return member.second.use_count() == 1; });
}

void ProcessTrees::look(Tree &tree, Monotonic now) {
  if (wants_pressure_) tree.pressure.read(root_, tree.pid, now);
  if (wants_sums_) {
    const bool old = !census_.updated() || now - *census_.updated() >= kCensusHolds;
    if (old || census_.start_of(tree.pid) != tree.start_ticks) census_.update(now);
    if (tree.members.empty() || tree.generation != census_.generation()) grow(tree);
    measure(tree, now);
    sum_up(tree);
  }
  tree.has_rates = tree.looked.has_value();
  tree.looked = now;
}

// Adds what has been started since. What is in the tree stays in it, also when its parent has ended.
void ProcessTrees::grow(Tree &tree) {
  tree.generation = census_.generation();
  if (tree.members.empty() && census_.start_of(tree.pid) == tree.start_ticks) add(tree, tree.pid);
  for (std::size_t i = 0; i < tree.members.size(); ++i) {
    children_.clear();
    census_.add_children(tree.members[i]->pid(), children_);
    for (const auto child : children_) add(tree, child);
  }
}

void ProcessTrees::add(Tree &tree, std::uint32_t pid) {
  const auto start = census_.start_of(pid);
  if (!start || tree.known.contains(pid)) return;
  tree.too_large = tree.members.size() >= kMostMembers;
  if (tree.too_large) return;
  auto &member = members_[pid];
  if (!member || member->start_ticks() != *start) member = std::make_shared<TreeProcess>(pid, *start, tree.looked);
  tree.members.push_back(member);
  tree.known.insert(pid);
}

void ProcessTrees::measure(Tree &tree, Monotonic now) {
  const TreeLook look{.root = root_,
                      .now = now,
                      .has_clocks = has_clocks_,
                      .wants_io = may_read_io_,
                      .keeps_files = members_.size() <= most_kept_,
                      .text = text_};
  std::vector<TreeProcess *> read;
  read.reserve(tree.members.size());
  for (const auto &member : tree.members) {
    const auto read_at = member->read_at();
    const bool fresh = read_at && now - *read_at < kSameLook;
    if (fresh || member->is_gone()) continue;
    member->read(look);
    read.push_back(member.get());
  }
  for (const auto *member : read) {
    if (member->is_gone()) let_go(*member);
  }
  for (auto *member : read) {
    if (!member->is_gone()) member->settle();
  }
  std::erase_if(tree.members, [&](const Member &member) {
    if (!member->is_gone()) return false;
    const auto known = members_.find(member->pid());
    if (known != members_.end() && known->second == member) members_.erase(known);
    tree.known.erase(member->pid());
    tree.generation = 0;  // its pid may be that of a new one already
    return true;
  });
}

void ProcessTrees::let_go(const TreeProcess &ended) {
  if (census_.start_of(ended.pid()) == ended.start_ticks()) census_.forget(ended.pid());
  // Parents cannot go round in a circle, but what is read at different moments can.
  constexpr int kMostAncestors = 64;
  auto above = members_.find(ended.parent());
  for (int i = 0; i < kMostAncestors && above != members_.end() && !above->second->is_alive(); ++i) {
    above = members_.find(above->second->parent());
  }
  if (above != members_.end() && above->second->is_alive()) ended.hand_over(*above->second);
}

void ProcessTrees::sum_up(Tree &tree) const {
  const bool whole = !tree.too_large && !tree.members.empty() && tree.members.front()->pid() == tree.pid;
  if (!whole) return tree.sums.fill(tree.too_large ? Reason::error : Reason::lost);
  double processes = 0, busy = 0, memory = 0, idle = 0;
  Reading cpu = 0.0, read = 0.0, write = 0.0, disk_wait = 0.0;
  for (const auto &member : tree.members) {
    add_to(cpu, member->cpu_percent());
    // Its last bytes are its parent's by now, or nobody's.
    if (!member->is_alive()) continue;
    add_to(read, member->read_bytes_per_second());
    add_to(write, member->written_bytes_per_second());
    add_to(disk_wait, member->disk_wait_percent());
    memory += member->memory_bytes();
    processes += 1;
    busy += member->is_busy() ? 1 : 0;
    idle += member->is_idle() ? 1 : 0;
  }
  const bool alive = processes > 0;
  tree.sums = {processes,
               cpu,
               cpu ? Reading(busy) : cpu,
               memory,
               read,
               write,
               disk_wait,
               alive ? Reading(100 * idle / processes) : Reading(Reason::lost)};
}

}  // namespace gpulse::host

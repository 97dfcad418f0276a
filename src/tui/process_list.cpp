// SPDX-License-Identifier: Apache-2.0
#include "tui/process_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "view/cell.hpp"

namespace gpulse::tui {

namespace {

using Processes = std::vector<const Process *>;

bool of_type(const Process &process, OnlyType only) {
  constexpr auto kGraphics = static_cast<std::uint8_t>(ProcessType::graphics);
  if (only == OnlyType::all) return true;
  const bool graphics = (process.types & kGraphics) != 0;
  const bool compute = (process.types & static_cast<std::uint8_t>(~kGraphics)) != 0;
  return only == OnlyType::graphics ? graphics : compute;
}

void sort(Processes &processes, const Settings &settings) {
  std::ranges::sort(processes, [&](const Process *a, const Process *b) {
    if (const int order = compare(settings.sort, *a, *b, settings.descending); order != 0) return order < 0;
    return std::pair(a->device, a->pid) < std::pair(b->device, b->pid);
  });
}

// Processes below their parents; a parent that does not use a GPU itself gets a row of its own.
class Tree {
 public:
  Tree(const Processes &sorted, ProcessList &list, bool unicode) : list_(list), unicode_(unicode) {
    for (const auto *process : sorted) by_pid_[process->pid].push_back(process);
    for (const auto *process : sorted) place(*process);
  }

  void write() {
    for (const auto pid : roots_) write(pid, "", "");
  }

 private:
  static std::uint32_t parent_of(const Process &process) {
    const auto parent = view::by_role(process.row, Role::parent);
    return parent && parent.value() >= 1 && parent.value() < 4294967295.0 ? static_cast<std::uint32_t>(parent.value())
                                                                          : 0;
  }

  void place(const Process &process) {
    if (!placed_.insert(process.pid).second) return;
    const auto parent = parent_of(process);
    if (parent == 0 || parent == process.pid || makes_circle(process.pid, parent)) {
      roots_.push_back(process.pid);
      return;
    }
    children_[parent].push_back(process.pid);
    above_[process.pid] = parent;
    if (by_pid_.contains(parent)) return;
    if (std::ranges::find(roots_, parent) == roots_.end()) {
      roots_.push_back(parent);
      names_[parent] = view::text_by_role(process.texts.get(), Role::parent_name);
    }
  }

  // Parents may come from a damaged recording and form a circle.
  bool makes_circle(std::uint32_t pid, std::uint32_t parent) const {
    for (auto at = above_.find(parent); at != above_.end(); at = above_.find(at->second)) {
      if (at->second == pid) return true;
    }
    return false;
  }

  void write(std::uint32_t pid, const std::string &guide, const std::string &below) {
    const auto own = by_pid_.find(pid);
    if (own == by_pid_.end()) {
      auto &made = list_.synthetic.emplace_back();
      made.pid = pid;
      made.row.fill(Reason::not_supported);
      TextRow texts(Scope::process);
      for (const auto role : {Role::name, Role::command}) {
        if (const auto id = find_role(Scope::process, role)) texts[*id] = names_[pid];
      }
      made.texts = std::make_shared<TextRow>(std::move(texts));
      list_.rows.push_back({ListRow::Kind::parent, &made, guide});
    } else {
      for (const auto *process : own->second) list_.rows.push_back({ListRow::Kind::process, process, guide});
    }
    const auto found = children_.find(pid);
    if (found == children_.end()) return;
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      const bool last = i + 1 == found->second.size();
      const std::string_view branch = unicode_ ? (last ? "└─ " : "├─ ") : (last ? "`- " : "|- ");
      const std::string_view on = last ? "   " : (unicode_ ? "│  " : "|  ");
      write(found->second[i], below + std::string(branch), below + std::string(on));
    }
  }

  ProcessList &list_;
  bool unicode_;
  std::map<std::uint32_t, Processes> by_pid_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> children_;
  std::map<std::uint32_t, std::uint32_t> above_;
  std::map<std::uint32_t, std::string> names_;
  std::set<std::uint32_t> placed_;
  std::vector<std::uint32_t> roots_;
};

// Totals per user or job. CPU and host memory of a process that works on several devices count once.
class Sums {
 public:
  Sums(ProcessList &list, Totals totals) : list_(list), role_(totals == Totals::user ? Role::user : Role::job) {}

  void add(const Process &process) {
    const std::string who(view::text_by_role(process.texts.get(), role_));
    auto [at, fresh] = groups_.try_emplace(who);
    auto &group = at->second;
    if (fresh) begin(group, who);
    ++group.count;
    group.devices.insert(process.device);
    group.total->types |= process.types;
    const bool again = !group.pids.insert(process.pid).second;
    for_each_metric(Scope::process, [&](MetricId id, const Metric &metric) {
      if (is_text(metric) || !process.row[id]) return;
      const bool of_host = metric.role == Role::cpu || metric.role == Role::host_memory;
      if (metric.role == Role::age) {
        auto &longest = group.total->row[id];
        longest = std::max(longest.value_or(0), process.row[id].value());
      } else if ((metric.unit == Unit::bytes || metric.unit == Unit::percent) && !(of_host && again)) {
        group.total->row[id] = group.total->row[id].value_or(0) + process.row[id].value();
      }
    });
  }

  void finish(const Settings &settings) {
    Processes sorted;
    std::map<const Process *, Group *> of;
    for (auto &[who, group] : groups_) {
      sorted.push_back(group.total);
      of[group.total] = &group;
    }
    sort(sorted, settings);
    for (const auto *total : sorted) {
      const auto &group = *of[total];
      list_.rows.push_back(
          {ListRow::Kind::total, total, {}, group.count, {group.devices.begin(), group.devices.end()}});
    }
  }

 private:
  struct Group {
    Process *total = nullptr;
    std::size_t count = 0;
    std::set<DeviceId> devices;
    std::set<std::uint32_t> pids;
  };

  void begin(Group &group, const std::string &who) {
    group.total = &list_.synthetic.emplace_back();
    group.total->pid = static_cast<std::uint32_t>(list_.synthetic.size());
    group.total->row.fill(Reason::not_supported);
    TextRow texts(Scope::process);
    if (const auto id = find_role(Scope::process, role_); id && !who.empty()) texts[*id] = who;
    group.total->texts = std::make_shared<TextRow>(std::move(texts));
  }

  ProcessList &list_;
  Role role_;
  std::map<std::string, Group> groups_;
};

}  // namespace

ProcessList list_processes(const Snapshot &snapshot, const Settings &settings, const Query &filter, bool unicode) {
  ProcessList list;
  Processes chosen;
  for (const auto &process : snapshot.processes) {
    if (of_type(process, settings.only) && filter.matches(process)) {
      chosen.push_back(&process);
    } else {
      ++list.hidden;
    }
  }
  if (settings.totals != Totals::off) {
    Sums sums(list, settings.totals);
    for (const auto *process : chosen) sums.add(*process);
    sums.finish(settings);
    return list;
  }
  sort(chosen, settings);
  if (settings.tree) {
    Tree(chosen, list, unicode).write();
    return list;
  }
  for (const auto *process : chosen) list.rows.push_back({ListRow::Kind::process, process, {}});
  return list;
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
#include "tui/process_children.hpp"

#include <fmt/format.h>

#include "view/cell.hpp"

namespace gpulse::tui {

namespace {

// What no column has: "[D, reads 120M/s] python3 loader.py".
std::string child_text(const HostProcess &child) {
  std::string text = fmt::format("[{}", child.state);
  const auto add = [&](std::string_view what, const Reading &rate) {
    if (rate && rate.value() >= 1) text += fmt::format(", {} {}/s", what, view::short_bytes(rate.value()));
  };
  add("reads", child.read_bytes_per_second);
  add("writes", child.written_bytes_per_second);
  return text + "] " + child.command;
}

Process make_child(const HostProcess &child, const Process &parent) {
  Process made;
  made.pid = child.pid;
  made.device = parent.device;
  made.row.fill(Reason::not_supported);
  const auto set = [&](Role role, const Reading &reading) {
    if (const auto id = find_role(Scope::process, role)) made.row[*id] = reading;
  };
  set(Role::cpu, child.cpu_percent);
  set(Role::host_memory, child.memory_bytes);
  set(Role::age, child.running_seconds);
  TextRow texts(Scope::process);
  if (const auto id = find_role(Scope::process, Role::user)) texts[*id] = child.user;
  if (const auto id = find_role(Scope::process, Role::command)) texts[*id] = child_text(child);
  made.texts = std::make_shared<TextRow>(std::move(texts));
  return made;
}

}  // namespace

void unfold(ProcessList &list, const std::set<std::uint32_t> &pids, const HostProcesses &processes, bool unicode) {
  constexpr std::size_t kMost = 16;  // of one process: those below the busiest rest
  std::set<std::uint32_t> listed;
  for (const auto &row : list.rows) listed.insert(row.process->pid);
  std::vector<ListRow> rows;
  for (auto &row : list.rows) {
    const bool opened = row.kind == ListRow::Kind::process && pids.contains(row.process->pid);
    const auto *parent = row.process;
    rows.push_back(std::move(row));
    if (!opened) continue;
    auto children = processes.below(parent->pid);
    std::erase_if(children, [&](const HostProcess *child) { return listed.contains(child->pid); });
    for (std::size_t i = 0; i < std::min(kMost, children.size()); ++i) {
      const bool last = i + 1 == std::min(kMost, children.size());
      list.synthetic.push_back(make_child(*children[i], *parent));
      rows.push_back(
          {ListRow::Kind::child, &list.synthetic.back(), unicode ? (last ? "└ " : "├ ") : (last ? "` " : "| ")});
    }
  }
  list.rows = std::move(rows);
}

}  // namespace gpulse::tui

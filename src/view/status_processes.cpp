// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "view/cell.hpp"
#include "view/device_cells.hpp"
#include "view/process_cells.hpp"
#include "view/status_parts.hpp"

namespace gpulse::view {

using term::Align;
using term::Cell;
using term::Colour;
using term::Column;
using term::Style;

namespace {

// As people look for them: in the order of the devices, the one that holds most memory first.
std::vector<const Process *> ordered_processes(const Snapshot &snapshot) {
  std::map<DeviceId, std::size_t> place;
  for (const auto *device : ordered_devices(snapshot)) place.emplace(device->id, place.size());
  const auto key = [&](const Process *process) {
    const auto found = place.find(process->device);
    return std::tuple(found == place.end() ? place.size() : found->second,
                      -by_role(process->row, Role::memory_used).value_or(-1), process->pid);
  };
  std::vector<std::pair<decltype(key(nullptr)), const Process *>> keyed;
  for (const auto &process : snapshot.processes) keyed.emplace_back(key(&process), &process);
  std::sort(keyed.begin(), keyed.end());
  std::vector<const Process *> processes;
  for (const auto &[unused, process] : keyed) processes.push_back(process);
  return processes;
}

std::string label(Role role) { return std::string(label_of(Scope::process, role)); }

std::vector<Column> process_columns() {
  return {{.title = "GPU", .align = Align::right},
          {.title = "PID", .align = Align::right, .gap = 2},
          {.title = label(Role::user), .gap = 2, .min = 4, .cap = 12, .keep = 700},
          {.title = "T", .keep = 300},
          {.title = label(Role::memory_used), .align = Align::right, .gap = 2, .keep = 900},
          {.title = label(Role::utilization), .align = Align::right, .gap = 2, .floor = 4, .keep = 600},
          {.title = label(Role::cpu), .align = Align::right, .gap = 2, .keep = 500},
          {.title = label(Role::host_memory), .align = Align::right, .gap = 2, .keep = 350},
          {.title = label(Role::age), .align = Align::right, .gap = 2, .keep = 400},
          {.title = label(Role::job), .gap = 2, .cap = 20, .keep = 50},
          {.title = label(Role::command), .gap = 2, .min = 8, .cap = 24, .keep = 800}};
}

constexpr std::size_t kOwnerColumn = 9;

std::vector<Cell> process_cells(const Process &process, const Style &style) {
  return {Cell(text(process.device)),
          Cell(fmt::format("{}", process.pid)),
          process_text_cell(process, Role::user, style),
          Cell(type_letters(process.types)),
          role_cell(style, process.row, Role::memory_used),
          role_cell(style, process.row, Role::utilization),
          role_cell(style, process.row, Role::cpu),
          role_cell(style, process.row, Role::host_memory),
          role_cell(style, process.row, Role::age),
          owner_cell(process, style),
          command_cell(process, style)};
}

}  // namespace

void add_process_needs(MetricSet &set) {
  set.add_roles(Scope::device, {Role::process_count});
  set.add_roles(Scope::process, {Role::user, Role::memory_used, Role::utilization, Role::cpu, Role::host_memory,
                                 Role::age, Role::job, Role::pod, Role::container, Role::command, Role::name});
}

Lines process_lines(const Snapshot &snapshot, const Style &style, std::size_t limit) {
  const auto processes = ordered_processes(snapshot);
  if (processes.empty()) {
    const auto *words = knows_processes(snapshot) ? "no GPU processes" : "GPU processes unknown";
    return {term::line(style, {{words, Colour::dim}})};
  }
  std::size_t shown = processes.size();
  if (shown + 1 > limit) shown = limit > 2 ? limit - 2 : 0;
  const auto more = term::line(style, {{fmt::format("+{} more processes", processes.size() - shown), Colour::dim}});
  if (shown == 0) return {more};

  auto columns = process_columns();
  const bool owners = std::any_of(processes.begin(), processes.end(), [](const auto *p) { return has_owner(*p); });
  if (!owners) columns.erase(columns.begin() + kOwnerColumn);
  term::Table table(std::move(columns));
  for (std::size_t i = 0; i < shown; ++i) {
    auto cells = process_cells(*processes[i], style);
    if (!owners) cells.erase(cells.begin() + kOwnerColumn);
    table.add(std::move(cells));
  }
  auto lines = table.lines(style);
  if (shown < processes.size()) lines.push_back(more);
  return lines;
}

}  // namespace gpulse::view

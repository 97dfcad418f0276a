// SPDX-License-Identifier: Apache-2.0
#include "tui/process_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "term/width.hpp"
#include "tui/process_children.hpp"
#include "view/cell.hpp"
#include "view/process_cells.hpp"

namespace gpulse::tui {

void ProcessTable::update(const Snapshot &snapshot, const Settings &settings, const HostProcesses &children,
                          bool unicode) {
  list = list_processes(snapshot, settings, filter, unicode);
  if (!unfolded.empty()) unfold(list, unfolded, children, unicode);
  find_chosen();
  // A PID that belongs to another process by now is no longer tagged.
  const auto gone = [&](const auto &tag) {
    return std::ranges::none_of(snapshot.processes, [&](const Process &process) {
      const bool same = tag.second == 0 || process.start_ticks == 0 || process.start_ticks == tag.second;
      return process.pid == tag.first && same;
    });
  };
  std::erase_if(tagged, gone);
}

// When the chosen process has ended, the row that took its place is chosen.
void ProcessTable::find_chosen() {
  if (list.rows.empty()) chosen.reset();
  if (!chosen) {
    chosen_row.reset();
    return;
  }
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    if (key_of(*list.rows[i].process) == *chosen) {
      chosen_row = i;
      return;
    }
  }
  choose(chosen_row.value_or(0));
}

void ProcessTable::choose(std::size_t row) {
  if (list.rows.empty()) return;
  chosen_row = std::min(row, list.rows.size() - 1);
  chosen = key_of(*list.rows[*chosen_row].process);
}

const ListRow *ProcessTable::chosen_line() const {
  return chosen_row && *chosen_row < list.rows.size() ? &list.rows[*chosen_row] : nullptr;
}

const Process *ProcessTable::chosen_process() const {
  const auto *line = chosen_line();
  return line != nullptr && line->kind == ListRow::Kind::process ? line->process : nullptr;
}

void ProcessTable::scroll_commands(int columns) {
  int longest = 0;
  for (const auto &row : list.rows) {
    longest = std::max(longest, term::width(view::command_cell(*row.process, {}).spans));
  }
  constexpr int kStaysInSight = 20;
  shift = std::clamp(shift + columns, 0, std::max(0, longest - kStaysInSight));
}

bool ProcessTable::matches(const ListRow &row) const {
  return row.kind == ListRow::Kind::process && search.matches(*row.process);
}

void ProcessTable::jump_to_match(bool forward, bool from_here) {
  const auto count = list.rows.size();
  if (count == 0 || search.empty()) return;
  const auto start = chosen_row.value_or(0);
  for (std::size_t i = from_here ? 0 : 1; i <= count; ++i) {
    const auto row = forward ? (start + i) % count : (start + count - i % count) % count;
    if (!matches(list.rows[row])) continue;
    choose(row);
    scroll_to_chosen = true;
    return;
  }
}

bool ProcessTable::anything_matches() const {
  return std::ranges::any_of(list.rows, [&](const ListRow &row) { return matches(row); });
}

std::string ProcessTable::note(const Settings &settings, bool unicode) const {
  std::string note;
  const auto add = [&](const std::string &text) { note += (note.empty() ? "" : ", ") + text; };
  if (!tagged.empty()) add(fmt::format("{} tagged", tagged.size()));
  if (settings.totals != Totals::off) add(fmt::format("totals per {}", word(settings.totals)));
  if (settings.tree && settings.totals == Totals::off) add("tree");
  if (settings.only != OnlyType::all) add(fmt::format("only {}", word(settings.only)));
  if (!filter.empty()) add("filter " + filter.text());
  if (!search.empty()) add("search " + search.text());
  if (follow) add("following");
  if (list.hidden > 0) add(fmt::format("{} hidden", list.hidden));
  return term::clean(note, unicode);
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// The list of processes as the user has arranged it: what is filtered and searched for, which row is chosen, which are
// tagged, how far it is scrolled. Changed by the commands, drawn by process_panel. UI thread only.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tui/host_processes.hpp"
#include "tui/process_list.hpp"

namespace gpulse::tui {

struct ProcessTable {
  ProcessList list;
  Query filter, search;
  std::optional<ProcessKey> chosen{};               // stays with its process when the order changes
  std::optional<std::size_t> chosen_row{};          // where that is in the list
  std::map<std::uint32_t, std::uint64_t> tagged{};  // PIDs, and when each started; 0: not known
  std::set<std::uint32_t> unfolded{};               // PIDs whose children are shown
  bool follow = false;                              // keep the chosen row in sight, always
  bool scroll_to_chosen = false;                    // at the next drawing
  bool sort_letter_next = false;                    // the next key says what to sort by

  std::size_t first = 0;                     // row at the top
  int page = 1;                              // rows seen, after drawing
  int shift = 0;                             // columns by which commands are scrolled
  std::map<std::string_view, int> widths{};  // the most each column has needed, so that columns do not jump

  // Brings the list up to date with a new snapshot, or with changed settings or filter.
  void update(const Snapshot &snapshot, const Settings &settings, const HostProcesses &children, bool unicode);

  void choose(std::size_t row);
  // The chosen row; null where none is.
  const ListRow *chosen_line() const;
  // The process on the chosen row; null where that is none, but a total, say.
  const Process *chosen_process() const;
  // No further than to the end of the longest command.
  void scroll_commands(int columns);
  // Chooses the next match of the search; with `from_here` the chosen row may be it.
  void jump_to_match(bool forward, bool from_here = false);
  bool anything_matches() const;
  // "2 tagged, tree, filter user:ann"
  std::string note(const Settings &settings, bool unicode) const;

 private:
  void find_chosen();
  bool matches(const ListRow &row) const;
};

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// The processes: chosen columns, one line chosen, some tagged.
#pragma once

#include <map>

#include "tui/scene.hpp"

namespace gpulse::tui {

struct ProcessPanel {
  std::size_t first = 0;  // row at the top
  std::size_t chosen = 0;
  bool any_chosen = false;
  int shift = 0;                                    // columns by which commands are scrolled
  std::map<std::uint32_t, std::uint64_t> tagged{};  // PIDs, and when each started; 0: not known
  std::string note{};                               // what is filtered, searched, …
  int page = 1;                                     // rows that are seen, after drawing
  std::map<std::string_view, int> widths{};         // what columns have needed so far: they do not jump
};

// Columns that are worth their place: those that no process has a value for are left out.
std::vector<ProcessColumn> shown_columns(const ProcessList &list, const Settings &settings);

void draw_processes(const term::Area &area, const Scene &scene, const ProcessList &list, ProcessPanel &panel,
                    bool follow);

}  // namespace gpulse::tui

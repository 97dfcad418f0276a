// SPDX-License-Identifier: Apache-2.0
// The process panel: the columns of the settings, one row chosen, some tagged.
#pragma once

#include "tui/draw_context.hpp"
#include "tui/process_table.hpp"

namespace gpulse::tui {

// The columns of the settings without those that no process here has a value for.
std::vector<ProcessColumn> shown_columns(const ProcessList &list, const Settings &settings);

// Scrolls the table as its follow and scroll_to_chosen say.
void draw_processes(const term::Area &area, const DrawContext &context, ProcessTable &table);

}  // namespace gpulse::tui

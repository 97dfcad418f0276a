// SPDX-License-Identifier: Apache-2.0
// What keys and clicks do to the list of processes: move, find, sort, tag. UI thread only.
#pragma once

#include <cstddef>

#include "metric/metric.hpp"
#include "term/input.hpp"
#include "tui/columns.hpp"
#include "tui/component.hpp"

namespace gpulse::tui {

// Chooses another row; where none is chosen, the first one on the screen.
void move_rows(Session &session, std::ptrdiff_t by);
void move_pages(Session &session, std::ptrdiff_t by);
void choose_first(Session &session);
void choose_last(Session &session);
// With Ctrl by pages.
void scroll_processes(Session &session, const term::MouseEvent &wheel);

void open_search(Session &session);
void open_filter(Session &session);
void next_match(Session &session);
// Without a search: sorts by PID.
void previous_match(Session &session);
void open_user_menu(Session &session);
// Leaves one thing at a time: the search, then the tags, the filter, the chosen device, the chosen row.
void clear(Session &session);

void next_type(Session &session);
void next_totals(Session &session);
void toggle_tree(Session &session);
// The children of the chosen process below it, or no longer.
void toggle_children(Session &session);
void toggle_follow(Session &session);
void tag(Session &session);
void untag_all(Session &session);

void open_sort_menu(Session &session);
// The same column again: the other way round.
void sort_by(Session &session, const ProcessColumn &column);
void sort_by(Session &session, Role role);
// By the column so many places to the right of the current one.
void sort_by_neighbour(Session &session, int by);
// The second key of `o n`, `o p`, …; a capital letter sorts the other way round.
void sort_by_letter(Session &session, const term::KeyPress &key);
void set_descending(Session &session, bool descending);

}  // namespace gpulse::tui

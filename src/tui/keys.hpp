// SPDX-License-Identifier: Apache-2.0
// Which key does what on the main screen: one table, from which the keyboard, the help screen and the line at the
// bottom are made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "term/input.hpp"

namespace gpulse::tui {

enum class Action : std::uint8_t {
  quit,
  help,
  setup,
  redraw,
  save,
  up,
  down,
  page_up,
  page_down,
  first,
  last,
  scroll_left,
  scroll_right,
  row_start,
  row_end,
  tag,
  untag,
  clear,
  details,
  environment,
  search,
  next_match,
  previous_match,
  filter,
  user,
  only_type,
  totals,
  tree,
  follow,
  sort_menu,
  sort_previous,
  sort_next,
  sort_ascending,
  sort_descending,
  sort_invert,
  sort_memory,
  sort_cpu,
  sort_chord,
  columns,
  signal_menu,
  interrupt,
  terminate,
  kill,
  nicer,
  less_nice,
  next_device,
  previous_device,
  layout_auto,
  layout_full,
  layout_compact,
  plots_menu,
  plots_together,
  zoom_in,
  zoom_out,
  panel_devices,
  panel_plots,
  panel_processes,
  panel_host,
  panel_events,
  theme,
  mouse,
  pause,
  step_back,
  step_forward,
  jump_back,
  jump_forward,
  go_to_time,
  live,
};

struct Binding {
  Action action;
  std::string_view keys;  // as the help shows them, one blank between: "Up k", "Ctrl-L F5"
  std::string_view help;
};

struct Section {
  std::string_view title;
  std::span<const Binding> bindings;
};

std::span<const Section> key_sections();

std::optional<Action> action_for(const term::KeyPress &key);

// "Ctrl-A", "Shift-Tab", "F2", "k", "Space"; the reverse of parse_key().
std::string key_name(const term::KeyPress &key);
std::optional<term::KeyPress> parse_key(std::string_view name);

// Where habits of other programs clash, and what to press instead.
struct Habit {
  std::string_view program;
  std::string_view text;
};
std::span<const Habit> clashing_habits();

}  // namespace gpulse::tui

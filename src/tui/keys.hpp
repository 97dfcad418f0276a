// SPDX-License-Identifier: Apache-2.0
// Which key does what: one table, from which the keyboard, the help page, the key bar and the documentation are made.
// Called by the pages on the UI thread; the table itself never changes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "term/input.hpp"
#include "tui/component.hpp"

namespace gpulse::tui {

// What a key of the main page does on the details page.
enum class InDetails : std::uint8_t {
  ignored,
  works,
  moves,   // the details are then those of the process that is chosen now
  closes,  // the details page gives way to what the key opens
};

struct BarPlace {
  int order = 0;  // 0: not in the key bar
  std::string_view text{};
};

struct Binding {
  std::string_view keys;  // as the help shows them, a space between: "Up k", "Ctrl-L F5"
  std::string_view help;
  Command run;
  InDetails in_details = InDetails::ignored;
  BarPlace bar{};       // shown with the first of its keys
  BarPlace time_bar{};  // instead, while the screen stands still or a recording is played
};

struct Section {
  std::string_view title;
  std::span<const Binding> bindings;
};

std::span<const Section> key_sections();
// Null: the key does nothing.
const Binding *binding_for(const term::KeyPress &key);
// What a key of the screen or of time does on a page that is not about a process; null: nothing.
const Binding *page_binding(const term::KeyPress &key);
// The key bar of the main page: while the screen stands still or a recording is played, with the keys of time first.
const std::vector<KeyHint> &table_hints(bool time);
// Of the key that leaves the program.
inline constexpr std::string_view kQuitText = "Quit";

// Where habits of other programs clash, and what to press instead.
struct Habit {
  std::string_view program;
  std::string_view text;
};
std::span<const Habit> clashing_habits();

}  // namespace gpulse::tui

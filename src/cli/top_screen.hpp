// SPDX-License-Identifier: Apache-2.0
// The live view as the options of `gpulse top` and the file of its settings want it to look; for every command that
// shows it.
#pragma once

#include <optional>
#include <string>

#include "cli/options.hpp"
#include "tui/loop.hpp"

namespace gpulse::cli {

// Whether the terminal has more than lines, one below the other.
bool can_move_cursor();

// `name`: of the command; `instead`: what can be done without a screen.
std::optional<Error> why_no_screen(const std::string &name, const std::string &instead);

struct TopLook {
  std::string file{};          // where it is remembered; empty: nowhere
  tui::Settings remembered{};  // what is in it
  tui::Settings settings{};    // with what the options say
};
// An error is wrong usage.
Result<TopLook> top_look(const Options &options);

// With what this terminal can show.
term::Style screen_style(const Options &options);

tui::LoopOptions loop_options(const Options &options, const TopLook &look, bool live);

}  // namespace gpulse::cli

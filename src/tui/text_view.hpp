// SPDX-License-Identifier: Apache-2.0
// Lines of text over the whole screen, to scroll through: help, environment.
#pragma once

#include <string>
#include <vector>

#include "term/input.hpp"
#include "tui/scene.hpp"

namespace gpulse::tui {

struct TextView {
  std::string title;
  std::vector<std::vector<term::Span>> lines{};
  std::size_t first = 0;
  int shift = 0;
  int page = 1;  // lines that are seen, after drawing
};

// False: it is to be closed.
bool handle_text_view(TextView &view, const term::Input &input);
void draw_text_view(const term::Area &area, const Look &look, TextView &view);

// The help screen, as wide as that.
TextView make_help(int columns);

}  // namespace gpulse::tui

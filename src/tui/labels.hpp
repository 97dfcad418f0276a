// SPDX-License-Identifier: Apache-2.0
// The labels on a drawn screen and what they mean: for the glossary, for a mouse that rests on one, and for the line
// that explains one after the other. Found by reading the screen, so that no panel has to tell. UI thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "term/screen.hpp"
#include "tui/component.hpp"
#include "tui/theme.hpp"

namespace gpulse::tui {

struct PlacedLabel {
  term::Rect where;
  std::string label;
};

// From left to right and from the top; words in the inks of headings that the glossary knows.
std::vector<PlacedLabel> labels_on(const term::Screen &screen, const Theme &theme);

// "TENS: Tensor cores busy" of the label at this place; empty: there is none.
std::string label_words_at(const term::Screen &screen, const Theme &theme, int x, int y);

// Explains one label after the other on the line at the bottom.
void open_label_line(Session &session);

}  // namespace gpulse::tui

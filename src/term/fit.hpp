// SPDX-License-Identifier: Apache-2.0
// How wide the columns of a table are when they have to share a line: where there is no room some shrink and some go,
// where there is room to spare some grow. Pure; used by tables of text and by the panels of the live view.
#pragma once

#include <limits>
#include <span>
#include <vector>

namespace gpulse::term {

struct FitColumn {
  int width = 0;  // wanted
  int full = 0;   // at which nothing is cut off, where that is more than wanted
  int min = 0;    // may shrink down to this; 0: it does not shrink
  int max = 0;    // may grow up to this where there is room to spare
  int keep = 0;   // where there is no room the column with the lowest goes first
  int gap = 1;    // blanks before it
};

struct FitRules {
  int spare = 0;                               // columns kept for less go before any other shrinks
  int must = std::numeric_limits<int>::max();  // columns kept for this or more never go
  bool last_first = false;                     // what was cut gets room back from the last column on
  bool in_turn = false;                        // growing columns take turns; else one after the other
};

// The width of each, 0 for those left out.
std::vector<int> fit_columns(std::span<const FitColumn> columns, int available, const FitRules &rules);

}  // namespace gpulse::term

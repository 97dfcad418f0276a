// SPDX-License-Identifier: Apache-2.0
// Curves and bars drawn with braille and block characters, or ASCII. Pure drawing, on the thread of the screen.
#pragma once

#include <limits>
#include <span>

#include "term/screen.hpp"

namespace gpulse::term {

// No value at that time; drawn as a gap.
inline constexpr float kGap = std::numeric_limits<float>::quiet_NaN();

struct Curve {
  std::span<const float> values;  // the newest last
  Ink ink{};
  double high = 100;  // value at the top; the bottom is 0
};

struct PlotStyle {
  bool unicode = true;
  bool filled = false;  // below the curve; for a single curve
  bool newest_left = false;
};

// How many values fit into that many columns.
int plot_values(int columns, bool unicode);

// Draws curves over each other, the newest value at the right edge; in a cell of two curves the later one's ink wins.
// Values out of range are drawn at the edge; neighbouring values are joined, except across a gap.
void draw_plot(const Area &area, std::span<const Curve> curves, const PlotStyle &style);

// One line of blocks in eight heights (ASCII: _.-=#), the newest value at the right.
void draw_sparkline(const Area &area, std::span<const float> values, double low, double high, const Ink &ink,
                    bool unicode);

// One line, of which `share` (0–1) is filled, to half a column; ASCII: '|' on a track of dots. `rest` is the ink of the
// track.
void draw_meter(const Area &area, double share, const Ink &full, const Ink &rest, bool unicode);

}  // namespace gpulse::term

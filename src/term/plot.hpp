// SPDX-License-Identifier: Apache-2.0
// Curves and bars in cells: braille and eighth blocks, or ASCII.
#pragma once

#include <limits>
#include <span>

#include "term/screen.hpp"

namespace gpulse::term {

// No value at this moment: a gap.
inline constexpr float kGap = std::numeric_limits<float>::quiet_NaN();

struct Curve {
  std::span<const float> values;  // the newest last
  Ink ink{};
  double high = 100;  // what is drawn at the top; at the bottom is 0
};

struct PlotStyle {
  bool unicode = true;
  bool filled = false;  // down to the bottom; meant for a single curve
  bool newest_left = false;
};

// How many values fit side by side in so many columns.
int plot_values(int columns, bool unicode);

// Draws curves over each other, the newest value at the right edge; where two meet the later one's ink wins. A value
// outside the range is drawn at its edge; a curve through two values is joined, a gap is not.
void draw_plot(const Area &area, std::span<const Curve> curves, const PlotStyle &style);

// A line high: the newest values as blocks of eight heights (ASCII: _.-=#), the newest at the right.
void draw_sparkline(const Area &area, std::span<const float> values, double low, double high, const Ink &ink,
                    bool unicode);

// A line high: `share` (0–1) of it is full, to half a column; ASCII: '|' on a track of dots. `rest` is the ink of the
// track.
void draw_meter(const Area &area, double share, const Ink &full, const Ink &rest, bool unicode);

}  // namespace gpulse::term

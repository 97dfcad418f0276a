// SPDX-License-Identifier: Apache-2.0
// The device panel: a line per device, or two where there is room.
#pragma once

#include "tui/draw_context.hpp"

namespace gpulse::tui {

// Lines for all devices, without the frame.
int device_panel_rows(const Snapshot &snapshot, bool two_lines);

// `first` is the first device shown; with `follow` it is moved so that the chosen one is visible.
void draw_devices(const term::Area &area, const DrawContext &context, std::size_t &first, bool follow);

// What the sparklines beside the numbers need.
std::vector<PlotKey> device_plot_keys(const Snapshot &snapshot);
inline constexpr int kSparkColumns = 12;
inline constexpr int kMostSparkColumns = 60;

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// The device panel: a line per device, or two where there is room; where there are many, a line that adds them up.
#pragma once

#include "tui/device_list.hpp"
#include "tui/draw_context.hpp"

namespace gpulse::tui {

// Lines for all of the list, without the frame.
int device_panel_rows(const DeviceList &list, bool two_lines);

// `first` is the first line of the list shown; with `follow` it is moved so that the chosen device is visible.
void draw_devices(const term::Area &area, const DrawContext &context, std::size_t &first, bool follow);

// What the strips of history beside the numbers need.
std::vector<PlotKey> device_plot_keys(const Snapshot &snapshot);
inline constexpr int kSparkColumns = 12;
inline constexpr int kMostSparkColumns = 40;
// Samples that the widest can show.
inline constexpr std::size_t kMostSparkSamples = std::size_t{2} * kMostSparkColumns;

}  // namespace gpulse::tui

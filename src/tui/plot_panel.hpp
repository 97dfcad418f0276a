// SPDX-License-Identifier: Apache-2.0
// The plot panel: a chart per device with the chosen metrics, or a chart per metric with all devices.
#pragma once

#include "tui/draw_context.hpp"

namespace gpulse::tui {

bool plots_together(const Snapshot &snapshot, const Settings &settings);
// What the plots may need.
std::vector<PlotKey> plot_keys(const Snapshot &snapshot, const Settings &settings);
std::size_t plotted_devices(const Snapshot &snapshot, const Settings &settings);
// The number of charts, those of the host included.
std::size_t plot_count(const Snapshot &snapshot, const Settings &settings);

struct PlotCursor;
// Of the plots per device those from the cursor on; notes how many there was room for.
void draw_plots(const term::Area &area, const DrawContext &context, PlotCursor &cursor);

}  // namespace gpulse::tui

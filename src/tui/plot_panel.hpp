// SPDX-License-Identifier: Apache-2.0
// Plots over time: a chart per device with the metrics chosen, or a chart per metric with all devices in it.
#pragma once

#include "tui/draw_context.hpp"

namespace gpulse::tui {

bool plots_together(const Snapshot &snapshot, const Settings &settings);
// Everything that may be drawn, so that it is kept.
std::vector<PlotKey> plot_keys(const Snapshot &snapshot, const Settings &settings);
// How many charts there would be.
std::size_t plot_count(const Snapshot &snapshot, const Settings &settings);

void draw_plots(const term::Area &area, const DrawContext &context);

}  // namespace gpulse::tui

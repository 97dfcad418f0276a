// SPDX-License-Identifier: Apache-2.0
// Plots of the host beside those of the devices: a chart for each metric that the user has chosen. Pure.
#pragma once

#include "tui/chart.hpp"

namespace gpulse::tui {

// Of those chosen, what the host has.
std::vector<PlotKey> host_plot_keys(const Snapshot &snapshot, const Settings &settings);
std::vector<Chart> host_charts(const DrawContext &context);

}  // namespace gpulse::tui

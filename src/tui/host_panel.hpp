// SPDX-License-Identifier: Apache-2.0
// The host panel: processors, memory, swap, disks, network, pressure.
#pragma once

#include "tui/draw_context.hpp"

namespace gpulse::tui {

// Lines wanted at this width, without the frame; with a single line it shows the most important readings.
int host_panel_rows(const Snapshot &snapshot, int columns);

void draw_host(const term::Area &area, const DrawContext &context);

}  // namespace gpulse::tui

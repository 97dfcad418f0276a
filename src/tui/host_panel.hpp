// SPDX-License-Identifier: Apache-2.0
// The host: processors, memory, swap, disks, network, pressure.
#pragma once

#include "tui/draw_context.hpp"

namespace gpulse::tui {

// Lines wanted in so many columns, without the frame; one is enough for the most important.
int host_panel_rows(const Snapshot &snapshot, int columns);

void draw_host(const term::Area &area, const DrawContext &context);

}  // namespace gpulse::tui

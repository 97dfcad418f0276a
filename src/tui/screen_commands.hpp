// SPDX-License-Identifier: Apache-2.0
// What keys and the mouse do to the screen around the list of processes: devices, plots, theme, mouse, time. UI thread
// only.
#pragma once

#include "term/input.hpp"
#include "tui/component.hpp"

namespace gpulse::tui {

// Beyond the last device, and before the first, none is chosen.
void choose_device(Session &session, int by);
// With Ctrl by pages.
void scroll_devices(Session &session, const term::MouseEvent &wheel);

// A plot per device, or all devices in each plot.
void toggle_plots_together(Session &session);
void zoom_in(Session &session);
void zoom_out(Session &session);

void next_theme(Session &session);
void toggle_mouse(Session &session);

void open_time_prompt(Session &session);

}  // namespace gpulse::tui

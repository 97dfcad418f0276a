// SPDX-License-Identifier: Apache-2.0
// What keys and the mouse do to the screen around the list of processes: plots, theme, mouse, time. UI thread only.
#pragma once

#include "term/input.hpp"
#include "tui/component.hpp"

namespace gpulse::tui {

// A plot per device, or all devices in each plot.
void toggle_plots_together(Session &session);
void zoom_in(Session &session);
void zoom_out(Session &session);
// Of the plots per device those that come next, or before.
void next_plots(Session &session, int by);

// To the next shorter (-1) or longer (1) of the usual times between two samples.
void change_interval(Session &session, int by);

void next_theme(Session &session);
void toggle_mouse(Session &session);

void open_time_prompt(Session &session);

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// What keys and the mouse do to the list of devices: choose, scroll, sort, group, hide. UI thread only.
#pragma once

#include "term/input.hpp"
#include "tui/component.hpp"
#include "tui/settings.hpp"

namespace gpulse::tui {

// In the order of the list. Beyond the last device, and before the first, none is chosen.
void choose_device(Session &session, int by);
// With Ctrl by pages.
void scroll_devices(Session &session, const term::MouseEvent &wheel);

// The same again: the other way round.
void sort_devices_by(Session &session, const DeviceOrder &order);
void open_device_sort_menu(Session &session);
void next_device_groups(Session &session);
void toggle_idle_devices(Session &session);

}  // namespace gpulse::tui

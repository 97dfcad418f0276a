// SPDX-License-Identifier: Apache-2.0
// Menus that change the settings: tabs of the setup page, some of them also dialogues of their own. UI thread only.
#pragma once

#include "tui/menu.hpp"

namespace gpulse::tui {

struct SettingMenu {
  Menu menu;
  // Puts into effect what was chosen or checked.
  void (*apply)(Session &session, Menu &menu);
};

SettingMenu panels_menu(const Session &session);
SettingMenu plots_menu(const Session &session);
SettingMenu columns_menu(const Session &session);
SettingMenu look_menu(const Session &session);

void open_plots_menu(Session &session);
void open_columns_menu(Session &session);

}  // namespace gpulse::tui

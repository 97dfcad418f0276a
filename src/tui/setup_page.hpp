// SPDX-License-Identifier: Apache-2.0
// The setup: a window over the page, so that a change is seen at once, with a tab for each menu of settings. UI thread
// only.
#pragma once

#include <vector>

#include "tui/component.hpp"
#include "tui/setting_menus.hpp"

namespace gpulse::tui {

class SetupPage final : public Component {
 public:
  explicit SetupPage(const Session &session);

  Place place() const override { return Place::window; }
  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;
  std::vector<KeyHint> key_bar() const override;

 private:
  std::vector<SettingMenu> tabs_;
};

void open_setup(Session &session);

}  // namespace gpulse::tui

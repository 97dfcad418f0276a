// SPDX-License-Identifier: Apache-2.0
// A list to choose from: one item, or several with check marks, which may also be reordered. Used as a dialogue, and as
// a tab of the setup page. UI thread only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tui/component.hpp"
#include "tui/draw_context.hpp"

namespace gpulse::tui {

struct MenuItem {
  std::string label;
  std::string note{};
  bool checked = false;
};

struct Menu {
  std::string title;
  std::vector<MenuItem> items;
  std::size_t at = 0;
  std::size_t first = 0;
  bool checks = false;   // items have check marks; else Enter chooses one
  bool ordered = false;  // items can be moved
  std::string typed{};   // what the user has typed to jump to an item
};

enum class MenuAnswer : std::uint8_t {
  none,
  chosen,   // the item at menu.at
  toggled,  // the check mark of menu.at
  moved,    // the item at menu.at has another place
  closed,
};

// `hits` are from the last drawing.
MenuAnswer handle_menu(Menu &menu, const term::Input &input, const std::vector<Hit> &hits);
// The items alone, without a window.
void draw_menu_items(const term::Area &area, const Look &look, Menu &menu, std::vector<Hit> &hits);

// A menu in a window.
class MenuDialogue final : public Component {
 public:
  // Called when the item at Menu::at has been chosen, which also closes the menu; in a menu with check marks, after
  // every change.
  using Act = std::function<void(Session &session, Menu &menu)>;

  MenuDialogue(Menu menu, Act act) : menu_(std::move(menu)), act_(std::move(act)) {}

  Place place() const override { return Place::window; }
  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;

 private:
  Menu menu_;
  Act act_;
};

}  // namespace gpulse::tui

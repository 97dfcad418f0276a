// SPDX-License-Identifier: Apache-2.0
#include "tui/setup_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tui/session.hpp"

namespace gpulse::tui {

using term::Key;

SetupPage::SetupPage(const Session &session)
    : tabs_{panels_menu(session), plots_menu(session), columns_menu(session), look_menu(session)} {}

std::vector<KeyHint> SetupPage::key_bar() const {
  return {{"Space", "changes"}, {"+ -", "move"}, {"Tab", "next page"}, {"W", "saves"}, {"Esc", "closes"}};
}

bool SetupPage::handle(const term::Input &input, Session &session) {
  auto &tab = session.setup_tab;
  if (const auto *key = std::get_if<term::KeyPress>(&input)) {
    if (key->key == Key::tab || key->key == Key::right || key->key == Key::left) {
      const bool back = key->key == Key::left || key->shift;
      tab = (tab + (back ? tabs_.size() - 1 : 1)) % tabs_.size();
      return true;
    }
    if (key->key == Key::f12 || is_letter(*key, U'W')) return session.requests.save = true;
    if (key->key == Key::f2 || is_letter(*key, U'S')) return false;
  }
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input);
      mouse != nullptr && mouse->action == term::MouseAction::press) {
    for (const auto &hit : session.hits) {
      if (hit.kind != Hit::Kind::tab || !hit.where.contains(mouse->x, mouse->y)) continue;
      tab = hit.value;
      return true;
    }
  }
  auto &[menu, apply] = tabs_[tab];
  const auto answer = handle_menu(menu, input, session.hits);
  if (answer == MenuAnswer::closed) return false;
  if (answer != MenuAnswer::none) apply(session, menu);
  return true;
}

void SetupPage::draw(const term::Area &area, const Look &look, Session &session) {
  // Above and below the items: the tabs, the keys.
  constexpr int kColumns = 72, kAround = 4, kMostItems = 12;
  session.hits.clear();
  std::size_t items = 0;
  for (const auto &tab : tabs_) items = std::max(items, tab.menu.items.size());
  const auto inner =
      open_window(area, look, "Setup", kColumns, kAround + static_cast<int>(std::min<std::size_t>(items, kMostItems)));
  int x = 0;
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    const auto text = fmt::format(" {} ", tabs_[i].menu.title);
    const int width = inner.put(x, 0, text, i == session.setup_tab ? look.theme->key : look.theme->key_text);
    session.hits.push_back({inner.part({x, 0, width, 1}).rect(), Hit::Kind::tab, i});
    x += width + 1;
  }
  draw_menu_items(inner.part({0, 2, inner.columns(), inner.rows() - kAround}), look, tabs_[session.setup_tab].menu,
                  session.hits);
  inner.put(0, inner.rows() - 1, key_note(key_bar()), look.theme->dim);
}

void open_setup(Session &session) { session.open(std::make_unique<SetupPage>(session)); }

}  // namespace gpulse::tui

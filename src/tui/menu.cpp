// SPDX-License-Identifier: Apache-2.0
#include "tui/menu.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "tui/session.hpp"

namespace gpulse::tui {

using term::Area;
using term::Key;
using term::KeyPress;

namespace {

constexpr std::size_t kPage = 10;

void move_to(Menu &menu, std::ptrdiff_t place) {
  const auto last = static_cast<std::ptrdiff_t>(menu.items.size()) - 1;
  menu.at = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, std::max<std::ptrdiff_t>(0, last)));
}

MenuAnswer move_item(Menu &menu, std::ptrdiff_t by) {
  if (!menu.ordered || menu.items.empty()) return MenuAnswer::none;
  const auto from = menu.at;
  move_to(menu, static_cast<std::ptrdiff_t>(menu.at) + by);
  if (from == menu.at) return MenuAnswer::none;
  std::swap(menu.items[from], menu.items[menu.at]);
  return MenuAnswer::moved;
}

MenuAnswer choose(Menu &menu) {
  if (menu.items.empty()) return MenuAnswer::closed;
  if (!menu.checks) return MenuAnswer::chosen;
  menu.items[menu.at].checked = !menu.items[menu.at].checked;
  return MenuAnswer::toggled;
}

// Jumps to the first label that begins with what has been typed, or has a word that does.
void type(Menu &menu, char32_t character) {
  if (character >= 128) return;
  const auto jump = [&](const std::string &start) {
    for (std::size_t i = 0; i < menu.items.size(); ++i) {
      const auto label = lower(menu.items[i].label);
      if (label.starts_with(start) || label.find(" " + start) != std::string::npos) {
        menu.at = i;
        return true;
      }
    }
    return false;
  };
  const auto letter = lower(std::string(1, static_cast<char>(character)));
  menu.typed += letter;
  if (jump(menu.typed)) return;
  menu.typed = letter;
  jump(menu.typed);
}

MenuAnswer handle_key(Menu &menu, const KeyPress &key) {
  const auto at = static_cast<std::ptrdiff_t>(menu.at);
  const auto page = static_cast<std::ptrdiff_t>(kPage);
  if (key.key != Key::character) menu.typed.clear();
  switch (key.key) {
    case Key::up:
      if (key.shift) return move_item(menu, -1);
      return move_to(menu, at - 1), MenuAnswer::none;
    case Key::down:
      if (key.shift) return move_item(menu, 1);
      return move_to(menu, at + 1), MenuAnswer::none;
    case Key::page_up:
      return move_to(menu, at - page), MenuAnswer::none;
    case Key::page_down:
      return move_to(menu, at + page), MenuAnswer::none;
    case Key::home:
      return move_to(menu, 0), MenuAnswer::none;
    case Key::end:
      return move_to(menu, static_cast<std::ptrdiff_t>(menu.items.size())), MenuAnswer::none;
    case Key::enter:
      return choose(menu);
    case Key::escape:
    case Key::f10:
      return MenuAnswer::closed;
    case Key::character:
      break;
    default:
      return MenuAnswer::none;
  }
  if (key.ctrl) return key.character == U'c' ? MenuAnswer::closed : MenuAnswer::none;
  if (key.character == U' ') return choose(menu);
  if (menu.ordered && (key.character == U'-' || key.character == U'[')) return move_item(menu, -1);
  if (menu.ordered && (key.character == U'+' || key.character == U']')) return move_item(menu, 1);
  if (key.character == U'q' && menu.typed.empty()) return MenuAnswer::closed;
  type(menu, key.character);
  return MenuAnswer::none;
}

MenuAnswer handle_mouse(Menu &menu, const term::MouseEvent &mouse, const std::vector<Hit> &hits) {
  const auto at = static_cast<std::ptrdiff_t>(menu.at);
  if (mouse.action == term::MouseAction::wheel_up) return move_to(menu, at - 1), MenuAnswer::none;
  if (mouse.action == term::MouseAction::wheel_down) return move_to(menu, at + 1), MenuAnswer::none;
  if (mouse.action != term::MouseAction::press) return MenuAnswer::none;
  const auto hit = std::ranges::find_if(
      hits, [&](const Hit &each) { return each.kind == Hit::Kind::item && each.where.contains(mouse.x, mouse.y); });
  if (hit == hits.end()) return MenuAnswer::closed;
  move_to(menu, static_cast<std::ptrdiff_t>(hit->value));
  return choose(menu);
}

}  // namespace

MenuAnswer handle_menu(Menu &menu, const term::Input &input, const std::vector<Hit> &hits) {
  if (const auto *key = std::get_if<KeyPress>(&input)) return handle_key(menu, *key);
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input)) return handle_mouse(menu, *mouse, hits);
  return MenuAnswer::none;
}

void draw_menu_items(const Area &area, const Look &look, Menu &menu, std::vector<Hit> &hits) {
  const auto rows = static_cast<std::size_t>(std::max(0, area.rows()));
  if (rows == 0) return;
  if (menu.at < menu.first) menu.first = menu.at;
  if (menu.at >= menu.first + rows) menu.first = menu.at - rows + 1;
  menu.first = std::min(menu.first, menu.items.size() > rows ? menu.items.size() - rows : 0);
  int labels = 0;
  for (const auto &item : menu.items) labels = std::max(labels, term::width(item.label));
  for (std::size_t i = 0; i < rows && menu.first + i < menu.items.size(); ++i) {
    const auto &item = menu.items[menu.first + i];
    const auto line = area.part({0, static_cast<int>(i), beside_scrollbar(area.columns(), rows, menu.items.size()), 1});
    int x = 0;
    if (menu.checks)
      x = line.put(0, 0, item.checked ? "[x] " : "[ ] ", item.checked ? look.theme->accent : look.theme->dim);
    line.put(x, 0, term::cut(item.label, line.columns() - x, look.style.ellipsis()), look.theme->text);
    x += labels + 2;
    if (x < line.columns())
      line.put(x, 0, term::cut(item.note, line.columns() - x, look.style.ellipsis()), look.theme->dim);
    if (menu.first + i == menu.at) line.highlight(look.theme->selected, look.theme->selected_attributes);
    hits.push_back({line.rect(), Hit::Kind::item, menu.first + i});
  }
  draw_scrollbar(area, look, menu.first, rows, menu.items.size());
}

bool MenuDialogue::handle(const term::Input &input, Session &session) {
  const auto answer = handle_menu(menu_, input, session.hits);
  if (answer == MenuAnswer::closed) return false;
  if (answer != MenuAnswer::none) act_(session, menu_);
  return answer != MenuAnswer::chosen;
}

void MenuDialogue::draw(const Area &area, const Look &look, Session &session) {
  session.hits.clear();
  int width = term::width(menu_.title) + 4;
  for (const auto &item : menu_.items) {
    const int note = item.note.empty() ? 0 : term::width(item.note) + 2;
    width = std::max(width, term::width(item.label) + note + (menu_.checks ? 4 : 0) + 2);
  }
  const auto inner =
      open_window(area, look, menu_.title, std::min(width + 8, 76), static_cast<int>(menu_.items.size()));
  draw_menu_items(inner, look, menu_, session.hits);
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
#include "tui/key_names.hpp"

#include <algorithm>
#include <array>

namespace gpulse::tui {

using term::Key;
using term::KeyPress;

namespace {

struct NamedKey {
  std::string_view name;
  Key key;
};
constexpr std::array kNamed{
    NamedKey{"Enter", Key::enter},  NamedKey{"Esc", Key::escape},
    NamedKey{"Tab", Key::tab},      NamedKey{"Backspace", Key::backspace},
    NamedKey{"Del", Key::remove},   NamedKey{"Ins", Key::insert},
    NamedKey{"Up", Key::up},        NamedKey{"Down", Key::down},
    NamedKey{"Left", Key::left},    NamedKey{"Right", Key::right},
    NamedKey{"Home", Key::home},    NamedKey{"End", Key::end},
    NamedKey{"PgUp", Key::page_up}, NamedKey{"PgDn", Key::page_down},
    NamedKey{"F1", Key::f1},        NamedKey{"F2", Key::f2},
    NamedKey{"F3", Key::f3},        NamedKey{"F4", Key::f4},
    NamedKey{"F5", Key::f5},        NamedKey{"F6", Key::f6},
    NamedKey{"F7", Key::f7},        NamedKey{"F8", Key::f8},
    NamedKey{"F9", Key::f9},        NamedKey{"F10", Key::f10},
    NamedKey{"F11", Key::f11},      NamedKey{"F12", Key::f12},
};

bool take_prefix(std::string_view &name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  name.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::optional<KeyPress> parse_key(std::string_view name) {
  KeyPress press;
  for (bool more = true; more;) {
    more = false;
    if (take_prefix(name, "Ctrl-")) more = press.ctrl = true;
    if (take_prefix(name, "Alt-")) more = press.alt = true;
    if (take_prefix(name, "Shift-")) more = press.shift = true;
  }
  const auto *const found = std::ranges::find(kNamed, name, &NamedKey::name);
  if (found != kNamed.end()) {
    press.key = found->key;
    return press;
  }
  if (name == "Space") name = " ";
  if (name.size() != 1) return std::nullopt;
  char letter = name.front();
  if (press.ctrl && letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  press.character = static_cast<unsigned char>(letter);
  return press;
}

std::string key_name(const KeyPress &press) {
  std::string name;
  if (press.ctrl) name += "Ctrl-";
  if (press.alt) name += "Alt-";
  if (press.shift) name += "Shift-";
  if (press.key != Key::character) {
    return name + std::string(std::ranges::find(kNamed, press.key, &NamedKey::key)->name);
  }
  if (press.character == U' ') return name + "Space";
  const char32_t letter =
      press.ctrl && press.character >= U'a' && press.character <= U'z' ? press.character - 32 : press.character;
  return name + (letter < 128 ? static_cast<char>(letter) : '?');
}

}  // namespace gpulse::tui

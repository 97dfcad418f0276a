// SPDX-License-Identifier: Apache-2.0
#include "tui/help_page.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tui/keys.hpp"
#include "tui/labels.hpp"
#include "tui/session.hpp"
#include "view/glossary.hpp"

namespace gpulse::tui {

using term::Colour;

namespace {

TextLines help_lines(int columns) {
  constexpr int kKeys = 24;
  TextLines lines;
  const auto wrapped = [&](std::string_view keys, std::string_view text) {
    const auto parts = term::wrap(text, std::max(20, columns - kKeys - 4));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      lines.push_back({{term::pad(i == 0 ? keys : "", kKeys), Colour::accent}, {parts[i], Colour::plain}});
    }
  };
  for (const auto &section : key_sections()) {
    if (!lines.empty()) lines.emplace_back();
    lines.push_back({{std::string(section.title), Colour::bold}});
    for (const auto &binding : section.bindings) wrapped(binding.keys, binding.help);
  }
  lines.emplace_back();
  lines.push_back({{"Mouse", Colour::bold}});
  wrapped("click", "choose a process or a GPU; again: all about it; a heading sorts; a key at the bottom is pressed");
  wrapped("rest", "on a label: what it means");
  wrapped("middle, right button", "tag; signal menu");
  wrapped("wheel", "scroll; with Shift sideways, with Ctrl by pages; over plots: zoom");
  lines.emplace_back();
  lines.push_back({{"Where habits clash", Colour::bold}});
  for (const auto &habit : clashing_habits()) wrapped(habit.program, habit.text);
  return lines;
}

// Each label on the screen once, in the order in which the eye meets them.
TextLines glossary_lines(const Session &session) {
  constexpr int kLabel = 14;
  TextLines lines;
  std::set<std::string> seen;
  if (session.drawn == nullptr) return lines;
  for (const auto &[where, label] : labels_on(*session.drawn, theme(session.settings.theme))) {
    if (!seen.insert(label).second) continue;
    std::string name = label;
    for (auto &piece : term::wrap(view::label_line(label), std::max(20, session.size.columns - kLabel - 4))) {
      lines.push_back(
          {{term::pad(std::exchange(name, ""), kLabel), Colour::accent}, {std::move(piece), Colour::plain}});
    }
  }
  lines.emplace_back();
  lines.push_back({{"gpulse explain LABEL says more, and so does Enter behind =.", Colour::dim}});
  return lines;
}

}  // namespace

bool HelpPage::handle(const term::Input &input, Session & /*session*/) {
  auto &scroll = is_glossary_ ? labels_scroll_ : keys_scroll_;
  if (const auto *key = std::get_if<term::KeyPress>(&input)) {
    if (key->key == term::Key::tab || is_letter(*key, U'?')) {
      is_glossary_ = !is_glossary_;
      return true;
    }
    return scroll.handle(*key);
  }
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input)) {
    scroll.handle(*mouse);
    return mouse->action != term::MouseAction::press;
  }
  return true;
}

void HelpPage::draw(const term::Area &area, const Look &look, Session & /*session*/) {
  const auto inner = open_page(area, look, is_glossary_ ? "On the screen" : "Keys", key_note(key_bar()));
  is_glossary_ ? labels_scroll_.draw(inner, look, labels_) : keys_scroll_.draw(inner, look, keys_);
}

std::vector<KeyHint> HelpPage::key_bar() const {
  return {{"?", is_glossary_ ? "keys" : "what the labels mean"}, {"Esc", "closes"}};
}

void open_help(Session &session) {
  session.open(std::make_unique<HelpPage>(help_lines(session.size.columns), glossary_lines(session)));
}

}  // namespace gpulse::tui

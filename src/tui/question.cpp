// SPDX-License-Identifier: Apache-2.0
#include "tui/question.hpp"

#include <algorithm>
#include <optional>

#include "tui/session.hpp"

namespace gpulse::tui {

using term::Key;
using term::KeyPress;

namespace {

// What the key answers; nothing: no answer yet.
std::optional<bool> answer_to(const KeyPress &key, bool yes_chosen) {
  if (is_letter(key, U'y') || is_letter(key, U'Y')) return true;
  if (key.key == Key::enter) return yes_chosen;
  const bool no = key.key == Key::escape || is_letter(key, U'n') || is_letter(key, U'N') || is_letter(key, U'q') ||
                  is_control(key, U'c');
  return no ? std::optional(false) : std::nullopt;
}

std::optional<bool> button_at(const std::vector<Hit> &hits, int x, int y) {
  const auto hit = std::ranges::find_if(
      hits, [&](const Hit &each) { return each.kind == Hit::Kind::item && each.where.contains(x, y); });
  return hit == hits.end() ? std::nullopt : std::optional(hit->value == 1);
}

}  // namespace

bool Question::handle(const term::Input &input, Session &session) {
  std::optional<bool> answer;
  if (const auto *key = std::get_if<KeyPress>(&input)) {
    if (key->key == Key::left || key->key == Key::right || key->key == Key::tab) yes_ = !yes_;
    answer = answer_to(*key, yes_);
  } else if (const auto *mouse = std::get_if<term::MouseEvent>(&input);
             mouse != nullptr && mouse->action == term::MouseAction::press) {
    answer = button_at(session.hits, mouse->x, mouse->y);
  }
  if (!answer) return true;
  answered_(session, *answer);
  return false;
}

void Question::draw(const term::Area &area, const Look &look, Session &session) {
  session.hits.clear();
  int width = term::width(title_) + 4;
  for (const auto &line : lines_) width = std::max(width, term::width(line.text));
  const auto inner =
      open_window(area, look, title_, std::min(width, area.columns() - 6), static_cast<int>(lines_.size()) + 2);
  int y = 0;
  const int last = inner.rows() - 1;
  for (const auto &[text, colour] : lines_) {
    if (y >= last) break;
    inner.put(0, y++, term::cut(term::clean(text, look.unicode()), inner.columns(), look.style.ellipsis()),
              look.ink(colour));
  }
  int x = 0;
  for (const bool yes : {false, true}) {
    const std::string_view text = yes ? " y Yes " : " n No ";
    const auto button = inner.part({x, last, term::width(text), 1});
    button.put(0, 0, text, yes == yes_ ? look.theme->key : look.theme->key_text);
    session.hits.push_back({button.rect(), Hit::Kind::item, yes ? std::size_t{1} : std::size_t{0}});
    x += term::width(text) + 2;
  }
}

}  // namespace gpulse::tui

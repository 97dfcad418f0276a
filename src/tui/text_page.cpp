// SPDX-License-Identifier: Apache-2.0
#include "tui/text_page.hpp"

#include <algorithm>

#include "tui/session.hpp"

namespace gpulse::tui {

using term::Key;

namespace {

std::vector<term::Span> shifted(std::vector<term::Span> spans, int shift) {
  for (auto &span : spans) {
    if (shift <= 0) break;
    const int width = term::width(span.text);
    span.text.erase(0, term::cut(span.text, shift, "").size());
    shift -= width;
  }
  return spans;
}

}  // namespace

void TextScroll::move(std::ptrdiff_t lines) {
  const auto page = static_cast<std::size_t>(std::max(1, page_));
  const auto most = static_cast<std::ptrdiff_t>(count_ > page ? count_ - page : 0);
  first_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(first_) + lines, 0, most));
}

bool TextScroll::handle(const term::KeyPress &key) {
  const auto page = static_cast<std::ptrdiff_t>(std::max(1, page_));
  constexpr int kSideways = 8;
  const auto is = [&](char32_t letter) { return key.key == Key::character && !key.ctrl && key.character == letter; };
  if (key.key == Key::up || is(U'k')) {
    move(-1);
  } else if (key.key == Key::down || is(U'j')) {
    move(1);
  } else if (key.key == Key::page_up) {
    move(-page);
  } else if (key.key == Key::page_down || is(U' ')) {
    move(page);
  } else if (key.key == Key::home) {
    first_ = 0;
  } else if (key.key == Key::end) {
    move(static_cast<std::ptrdiff_t>(count_));
  } else if (key.key == Key::left) {
    shift_ = std::max(0, shift_ - kSideways);
  } else if (key.key == Key::right) {
    shift_ = std::min(shift_ + kSideways, 100'000);
  } else {
    return false;
  }
  return true;
}

void TextScroll::handle(const term::MouseEvent &mouse) {
  constexpr int kLines = 3;
  if (mouse.action == term::MouseAction::wheel_up) move(-kLines);
  if (mouse.action == term::MouseAction::wheel_down) move(kLines);
}

void TextScroll::draw(const term::Area &area, const Look &look, const TextLines &lines) {
  page_ = std::max(1, area.rows());
  count_ = lines.size();
  move(0);
  for (int y = 0; y < area.rows(); ++y) {
    const auto at = first_ + static_cast<std::size_t>(y);
    if (at >= lines.size()) break;
    put_spans(area, 0, y, shifted(lines[at], shift_), look, area.columns());
  }
  draw_scrollbar(area, look, first_, static_cast<std::size_t>(page_), lines.size());
}

bool TextPage::handle(const term::Input &input, Session & /*session*/) {
  if (const auto *key = std::get_if<term::KeyPress>(&input)) return scroll_.handle(*key);
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input)) {
    scroll_.handle(*mouse);
    return mouse->action != term::MouseAction::press;
  }
  return true;
}

void TextPage::draw(const term::Area &area, const Look &look, Session & /*session*/) {
  scroll_.draw(open_page(area, look, title_, key_note(key_bar())), look, lines_);
}

}  // namespace gpulse::tui

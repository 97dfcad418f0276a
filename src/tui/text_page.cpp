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

void TextPage::scroll(std::ptrdiff_t lines) {
  const auto page = static_cast<std::size_t>(std::max(1, page_));
  const auto most = static_cast<std::ptrdiff_t>(lines_.size() > page ? lines_.size() - page : 0);
  first_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(first_) + lines, 0, most));
}

bool TextPage::handle_key(const term::KeyPress &key) {
  const auto page = static_cast<std::ptrdiff_t>(std::max(1, page_));
  constexpr int kSideways = 8;
  const auto is = [&](char32_t letter) { return key.key == Key::character && !key.ctrl && key.character == letter; };
  if (key.key == Key::up || is(U'k')) {
    scroll(-1);
  } else if (key.key == Key::down || is(U'j')) {
    scroll(1);
  } else if (key.key == Key::page_up) {
    scroll(-page);
  } else if (key.key == Key::page_down || is(U' ')) {
    scroll(page);
  } else if (key.key == Key::home) {
    first_ = 0;
  } else if (key.key == Key::end) {
    scroll(static_cast<std::ptrdiff_t>(lines_.size()));
  } else if (key.key == Key::left) {
    shift_ = std::max(0, shift_ - kSideways);
  } else if (key.key == Key::right) {
    shift_ = std::min(shift_ + kSideways, 100'000);
  } else {
    return false;
  }
  return true;
}

bool TextPage::handle(const term::Input &input, Session & /*session*/) {
  if (const auto *key = std::get_if<term::KeyPress>(&input)) return handle_key(*key);
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input)) {
    constexpr int kLines = 3;
    if (mouse->action == term::MouseAction::wheel_up) scroll(-kLines);
    if (mouse->action == term::MouseAction::wheel_down) scroll(kLines);
    return mouse->action != term::MouseAction::press;
  }
  return true;
}

void TextPage::draw(const term::Area &area, const Look &look, Session & /*session*/) {
  const auto inner = open_page(area, look, title_, key_note(key_bar()));
  page_ = std::max(1, inner.rows());
  scroll(0);
  for (int y = 0; y < inner.rows(); ++y) {
    const auto at = first_ + static_cast<std::size_t>(y);
    if (at >= lines_.size()) break;
    put_spans(inner, 0, y, shifted(lines_[at], shift_), look, inner.columns());
  }
  draw_scrollbar(inner, look, first_, static_cast<std::size_t>(page_), lines_.size());
}

}  // namespace gpulse::tui

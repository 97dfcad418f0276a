// SPDX-License-Identifier: Apache-2.0
#include "tui/text_view.hpp"

#include <algorithm>

#include "tui/keys.hpp"

namespace gpulse::tui {

using term::Colour;
using term::Key;

namespace {

void scroll(TextView &view, std::ptrdiff_t by) {
  const auto page = static_cast<std::size_t>(std::max(1, view.page));
  const auto most = static_cast<std::ptrdiff_t>(view.lines.size() > page ? view.lines.size() - page : 0);
  view.first =
      static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(view.first) + by, 0, most));
}

bool handle_key(TextView &view, const term::KeyPress &key) {
  const auto page = static_cast<std::ptrdiff_t>(std::max(1, view.page));
  constexpr int kSideways = 8;
  const auto is = [&](char32_t letter) { return key.key == Key::character && !key.ctrl && key.character == letter; };
  if (key.key == Key::up || is(U'k')) {
    scroll(view, -1);
  } else if (key.key == Key::down || is(U'j')) {
    scroll(view, 1);
  } else if (key.key == Key::page_up) {
    scroll(view, -page);
  } else if (key.key == Key::page_down || is(U' ')) {
    scroll(view, page);
  } else if (key.key == Key::home) {
    view.first = 0;
  } else if (key.key == Key::end) {
    scroll(view, static_cast<std::ptrdiff_t>(view.lines.size()));
  } else if (key.key == Key::left) {
    view.shift = std::max(0, view.shift - kSideways);
  } else if (key.key == Key::right) {
    view.shift = std::min(view.shift + kSideways, 100'000);
  } else {
    return false;
  }
  return true;
}

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

bool handle_text_view(TextView &view, const term::Input &input) {
  if (const auto *key = std::get_if<term::KeyPress>(&input)) return handle_key(view, *key);
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input)) {
    constexpr int kLines = 3;
    if (mouse->action == term::MouseAction::wheel_up) scroll(view, -kLines);
    if (mouse->action == term::MouseAction::wheel_down) scroll(view, kLines);
    return mouse->action != term::MouseAction::press;
  }
  return true;
}

void draw_text_view(const term::Area &area, const Look &look, TextView &view) {
  Look boxed = look;
  boxed.boxed = area.rows() >= 8 && area.columns() >= 40;
  const auto inner = open_panel(area, boxed, view.title, "Esc closes");
  view.page = std::max(1, inner.rows());
  scroll(view, 0);
  for (int y = 0; y < inner.rows(); ++y) {
    const auto at = view.first + static_cast<std::size_t>(y);
    if (at >= view.lines.size()) break;
    put_spans(inner, 0, y, shifted(view.lines[at], view.shift), look, inner.columns());
  }
  draw_scrollbar(inner, look, view.first, static_cast<std::size_t>(view.page), view.lines.size());
}

TextView make_help(int columns) {
  constexpr int kKeys = 24;
  TextView view{.title = "Keys"};
  const auto wrapped = [&](std::string_view keys, std::string_view text) {
    const auto parts = term::wrap(text, std::max(20, columns - kKeys - 4));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      view.lines.push_back({{term::pad(i == 0 ? keys : "", kKeys), Colour::accent}, {parts[i], Colour::plain}});
    }
  };
  for (const auto &section : key_sections()) {
    if (!view.lines.empty()) view.lines.emplace_back();
    view.lines.push_back({{std::string(section.title), Colour::bold}});
    for (const auto &binding : section.bindings) wrapped(binding.keys, binding.help);
  }
  view.lines.emplace_back();
  view.lines.push_back({{"Mouse", Colour::bold}});
  wrapped("click",
          "choose a process or a GPU; again: details, or all GPUs; a heading sorts; a key at the bottom is pressed");
  wrapped("middle, right button", "tag; signal menu");
  wrapped("wheel", "scroll; with Shift sideways, with Ctrl by pages; over plots: zoom");
  view.lines.emplace_back();
  view.lines.push_back({{"Where habits clash", Colour::bold}});
  for (const auto &habit : clashing_habits()) wrapped(habit.program, habit.text);
  return view;
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
#include "tui/help_page.hpp"

#include <algorithm>

#include "tui/keys.hpp"
#include "tui/session.hpp"
#include "tui/text_page.hpp"

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
  wrapped("click",
          "choose a process or a GPU; again: details, or all GPUs; a heading sorts; a key at the bottom is pressed");
  wrapped("middle, right button", "tag; signal menu");
  wrapped("wheel", "scroll; with Shift sideways, with Ctrl by pages; over plots: zoom");
  lines.emplace_back();
  lines.push_back({{"Where habits clash", Colour::bold}});
  for (const auto &habit : clashing_habits()) wrapped(habit.program, habit.text);
  return lines;
}

}  // namespace

void open_help(Session &session) { session.open(std::make_unique<TextPage>("Keys", help_lines(session.size.columns))); }

}  // namespace gpulse::tui

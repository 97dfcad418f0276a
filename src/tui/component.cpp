// SPDX-License-Identifier: Apache-2.0
#include "tui/component.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpulse::tui {

std::string key_note(const std::vector<KeyHint> &hints) {
  std::string note;
  for (const auto &hint : hints) note += fmt::format("{}{} {}", note.empty() ? "" : "   ", hint.key, hint.text);
  return note;
}

void scroll_by_wheel(std::size_t &first, const term::MouseEvent &wheel, std::size_t page) {
  constexpr std::size_t kLines = 3;
  const auto lines = wheel.ctrl ? page : kLines;
  first = wheel.action == term::MouseAction::wheel_up ? first - std::min(first, lines) : first + lines;
}

}  // namespace gpulse::tui

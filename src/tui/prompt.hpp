// SPDX-License-Identifier: Apache-2.0
// A line to type on, at the bottom of the screen.
#pragma once

#include <string>

#include "term/input.hpp"
#include "tui/scene.hpp"

namespace gpulse::tui {

struct Prompt {
  std::string question;
  std::string text{};     // UTF-8
  std::size_t at = 0;     // cursor, in bytes
  std::string trouble{};  // what is wrong with the text
};

enum class PromptAnswer : std::uint8_t { none, changed, done, cancelled };

PromptAnswer handle_prompt(Prompt &prompt, const term::Input &input);
void draw_prompt(const term::Area &area, const Look &look, const Prompt &prompt);

}  // namespace gpulse::tui

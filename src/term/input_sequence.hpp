// SPDX-License-Identifier: Apache-2.0
// What a complete control sequence from a terminal means. Pure; called by InputParser only.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "term/input.hpp"

namespace gpulse::term {

// CSI and SS3 sequences: an introducer, numbers, a final byte.
struct Sequence {
  char prefix = 0;  // one of <=>? before the numbers
  std::array<int, 4> numbers{};
  std::size_t count = 0;
  int shifted = 0;       // the character with Shift, if the terminal says so
  bool release = false;  // of a key
  char final = 0;

  int number(std::size_t at) const { return at < count ? numbers[at] : 0; }
};

// `body` is what is between the introducer and the final byte.
Sequence read_sequence(std::string_view body, char final);

// None: it is unknown, or of no interest.
std::optional<Input> csi_meaning(const Sequence &sequence);
std::optional<Input> ss3_meaning(const Sequence &sequence);

// A control code from 0 to 31 or 127, or a character.
KeyPress plain_key(char32_t code);

std::optional<Input> x10_mouse(unsigned char code, unsigned char x, unsigned char y);

}  // namespace gpulse::term

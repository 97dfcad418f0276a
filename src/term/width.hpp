// SPDX-License-Identifier: Apache-2.0
// How many columns text takes in a terminal, and how to make it take fewer or more. Pure functions, any thread.
// Text is UTF-8 that came through clean(): the others measure what they are given and trust it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpulse::term {

enum class Align : std::uint8_t { left, right };

// Foreign text made safe to print: valid UTF-8, no control characters, nothing that turns the writing direction.
// Without `unicode` whatever is not ASCII becomes a question mark.
std::string clean(std::string_view text, bool unicode = true);

// One character of UTF-8.
struct Glyph {
  char32_t code = 0;
  std::size_t bytes = 0;
  int columns = 0;  // 2 for wide ones, 0 for those that join the one before
};
// The first of a text that is not empty; a bad byte counts as U+FFFD.
Glyph first_glyph(std::string_view text);

// Gives how many of the bytes it took.
std::size_t encode_utf8(char32_t code, std::span<char, 4> bytes);

// Columns, as terminals count them: the sum over the characters, 2 for wide ones, 0 for combining ones.
int width(std::string_view text);

// Text that is wider than `columns` ends at a border between what readers see as characters, then the ellipsis.
std::string cut(std::string_view text, int columns, std::string_view ellipsis);

std::string pad(std::string_view text, int columns, Align align = Align::left);

// Lines of whole words, none wider than `columns`; a word that is too long for a line is cut into several.
std::vector<std::string> wrap(std::string_view text, int columns);

}  // namespace gpulse::term

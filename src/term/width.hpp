// SPDX-License-Identifier: Apache-2.0
// The width of text in a terminal, and cutting, padding and wrapping by width. Pure functions, any thread. All but
// clean() expect text that went through clean().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpulse::term {

enum class Align : std::uint8_t { left, right };

// Makes foreign text safe to print: valid UTF-8, no control characters, nothing that changes the writing direction.
// Without `unicode`, everything that is not ASCII becomes a question mark.
std::string clean(std::string_view text, bool unicode = true);

// One character of UTF-8.
struct Glyph {
  char32_t code = 0;
  std::size_t bytes = 0;
  int columns = 0;  // 2 for wide characters, 0 for combining marks
};
// The first of a non-empty text; an invalid byte counts as U+FFFD.
Glyph first_glyph(std::string_view text);

// Returns the number of bytes.
std::size_t encode_utf8(char32_t code, std::span<char, 4> bytes);

// In columns, as terminals count: the sum over all characters, 2 for wide ones, 0 for combining marks.
int width(std::string_view text);

// Cuts text that is wider than `columns` between two characters and adds the ellipsis.
std::string cut(std::string_view text, int columns, std::string_view ellipsis);

std::string pad(std::string_view text, int columns, Align align = Align::left);

// Lines of whole words, none wider than `columns`; longer words are broken.
std::vector<std::string> wrap(std::string_view text, int columns);

}  // namespace gpulse::term

// SPDX-License-Identifier: Apache-2.0
#include "base/toml_text.hpp"

#include <string>

namespace gpulse {

namespace {

// How long the quotes are that a string begins with here; 0: none does. Behind a word they are no string.
std::size_t quotes_at(std::string_view text, char before) {
  constexpr std::string_view kBefore = " \t\n=[,{.";
  const char c = text.front();
  if ((c != '"' && c != '\'') || !kBefore.contains(before)) return 0;
  return text.starts_with(std::string(3, c)) ? 3 : 1;
}

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

}  // namespace

std::size_t stray_line(std::string_view text) {
  std::size_t line = 1;
  std::string_view closing;  // of the string that goes on; a line's end closes what is no string of many
  char before = '\n';
  for (std::size_t used = 1; !text.empty(); text.remove_prefix(used)) {
    const char c = text.front();
    used = 1;
    if (c == '\0') return line;
    if (c == '\n') {
      ++line;
      if (closing.size() < 3) closing = {};
    } else if (!closing.empty()) {
      const bool escapes = c == '\\' && closing.front() == '"';
      // Behind it stands what is meant, or a line's end that is taken away with all blanks that follow.
      const auto next = escapes ? text.find_first_not_of(" \t\r\n", 1) : std::string_view::npos;
      if (next != std::string_view::npos && is_beyond_ascii(text[next])) return line;
      if (escapes && text.size() > 1 && text[1] != '\n') used = 2;
      if (text.starts_with(closing)) {
        used = closing.size();
        // Of one of many lines, two more are its own.
        while (closing.size() == 3 && used < 5 && text.substr(used).starts_with(c)) ++used;
        closing = {};
      }
    } else if (c == '#') {
      closing = "\n";
    } else if (const auto quotes = quotes_at(text, before)) {
      used = quotes;
      closing = text.substr(0, quotes);
    } else if (is_beyond_ascii(c) || c == '"' || c == '\'') {
      return line;
    }
    before = text[used - 1];
  }
  return 0;
}

}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// What the destination of a text can show (colour, Unicode, width), and lines of coloured pieces made for it. Pure, but
// for detect_style(); any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpulse::term {

struct Style {
  bool colour = false;
  bool unicode = true;  // else plain ASCII
  int width = 80;       // columns

  // "…" or ".."
  std::string_view ellipsis() const { return unicode ? "…" : ".."; }
  // Shown in place of a missing value.
  std::string_view dash() const { return unicode ? "–" : "-"; }
};

enum class Colour : std::uint8_t { plain, dim, bold, good, busy, warn, bad, accent, mark };

struct Span {
  std::string text;
  Colour colour = Colour::plain;
};

// Width of all pieces together.
int width(const std::vector<Span> &spans);

// The text in the colour, if the style has colours.
std::string paint(const Style &style, Colour colour, std::string_view text);

// The pieces in a row, cut to the style's width, without trailing blanks.
std::string line(const Style &style, const std::vector<Span> &spans);

// A bar of `columns` of which `fraction` (0–1) is full.
std::vector<Span> bar(const Style &style, double fraction, int columns, Colour colour);

// What a style is derived from, so that it can be tested without a terminal.
struct TerminalFacts {
  bool terminal = false;
  int columns = 0;  // of the terminal; 0: unknown
  std::string_view term = {};
  std::string_view no_color = {};
  std::string_view columns_variable = {};
  std::string_view lc_all = {};
  std::string_view lc_ctype = {};
  std::string_view lang = {};
};

Style style_for(const TerminalFacts &facts);

// For a file descriptor of this process.
Style detect_style(int fd);
// Rows of the terminal behind the descriptor, 0 where there is none.
int terminal_rows(int fd);

}  // namespace gpulse::term

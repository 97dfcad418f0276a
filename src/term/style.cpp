// SPDX-License-Identifier: Apache-2.0
#include "term/style.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text.hpp"
#include "term/width.hpp"

namespace gpulse::term {

namespace {

constexpr int kDefaultWidth = 80;
constexpr int kWidest = 10'000;

std::string_view variable(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

bool names_utf8(std::string_view locale) {
  const auto name = lower(locale);
  return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
}

// POSIX: the first of these that is not empty decides.
bool unicode_locale(const TerminalFacts &facts) {
  for (const auto locale : {facts.lc_all, facts.lc_ctype, facts.lang}) {
    if (!locale.empty()) return names_utf8(locale);
  }
  return false;
}

std::string repeat(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

}  // namespace

std::string paint(const Style &style, Colour colour, std::string_view text) {
  static constexpr std::array<std::string_view, 9> kCodes{
      "", "\033[90m", "\033[1m", "\033[32m", "\033[1;32m", "\033[33m", "\033[31m", "\033[36m", "\033[1;7;33m"};
  if (!style.colour || colour == Colour::plain || text.empty()) return std::string(text);
  return fmt::format("{}{}\033[0m", kCodes[static_cast<std::size_t>(colour)], text);
}

int width(const std::vector<Span> &spans) {
  int columns = 0;
  for (const auto &span : spans) columns += width(span.text);
  return columns;
}

std::string line(const Style &style, const std::vector<Span> &spans) {
  int total = 0;
  std::size_t last = 0;  // after the last piece that is not blank
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].text.find_first_not_of(' ') == std::string::npos) continue;
    last = i + 1;
  }
  for (std::size_t i = 0; i < last; ++i) total += width(spans[i].text);
  const bool whole = total <= style.width;
  std::string text;
  int used = 0;
  for (std::size_t i = 0; i < last && used <= style.width; ++i) {
    std::string piece = spans[i].text;
    const bool ends_here = !whole && used + width(piece) > style.width - width(style.ellipsis());
    // A piece that would fit gets an ellipsis, too, if the next one does not.
    if (ends_here)
      piece =
          cut(piece + std::string(static_cast<std::size_t>(style.width), ' '), style.width - used, style.ellipsis());
    if (i + 1 == last && !ends_here) piece.resize(piece.find_last_not_of(' ') + 1);
    text += paint(style, spans[i].colour, piece);
    used += width(piece);
    if (ends_here) break;
  }
  return text;
}

std::vector<Span> bar(const Style &style, double fraction, int columns, Colour colour) {
  if (columns <= 0) return {};
  const double share = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  if (!style.unicode) {
    const int full = static_cast<int>(std::lround(share * columns));
    return {{repeat("#", full), colour}, {repeat("-", columns - full), Colour::dim}};
  }
  const int halves = static_cast<int>(std::lround(share * columns * 2));
  const std::string full = repeat("━", halves / 2) + (halves % 2 != 0 ? "╸" : "");
  return {{full, colour}, {repeat("─", columns - (halves + 1) / 2), Colour::dim}};
}

Style style_for(const TerminalFacts &facts) {
  Style style;
  const bool dumb = facts.term.empty() || facts.term == "dumb";
  style.colour = facts.terminal && facts.no_color.empty() && !dumb;
  style.unicode = unicode_locale(facts);
  const auto told = parse_integer<int>(facts.columns_variable).value_or(0);
  const int columns = facts.columns > 0 ? facts.columns : told;
  style.width = columns > 0 ? std::min(columns, kWidest) : kDefaultWidth;
  return style;
}

Style detect_style(int fd) {
  winsize size{};
  const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0;
  return style_for({.terminal = isatty(fd) == 1,
                    .columns = known ? size.ws_col : 0,
                    .term = variable("TERM"),
                    .no_color = variable("NO_COLOR"),
                    .columns_variable = variable("COLUMNS"),
                    .lc_all = variable("LC_ALL"),
                    .lc_ctype = variable("LC_CTYPE"),
                    .lang = variable("LANG")});
}

int terminal_rows(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

}  // namespace gpulse::term

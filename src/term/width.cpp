// SPDX-License-Identifier: Apache-2.0
#include "term/width.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

#include "base/text.hpp"

namespace gpulse::term {

namespace {

struct Character {
  utf8proc_int32_t code = 0;
  std::size_t bytes = 0;
};

Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  // Fast path for lines, blocks and braille, most of what is drawn; the first and last lead bytes have exceptions.
  if (lead > 0xE0 && lead < 0xED && text.size() >= 3) {
    const auto second = static_cast<unsigned char>(text[1]), third = static_cast<unsigned char>(text[2]);
    if ((second & 0xC0U) == 0x80 && (third & 0xC0U) == 0x80) {
      return {(lead & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F), 3};
    }
  }
  Character found{};
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t *>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &found.code);
  if (bytes <= 0) return {0xFFFD, 1};
  found.bytes = static_cast<std::size_t>(bytes);
  return found;
}

// Characters newer than the library's tables: terminals treat those of pictograph and ideograph blocks as wide.
bool likely_wide(utf8proc_int32_t code) {
  return (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
}

int character_width(utf8proc_int32_t code) {
  if (code < 0x20 || code == 0x7F) return 0;
  if (code < 0x300 || (code >= 0x2500 && code < 0x25A0) || (code >= 0x2800 && code < 0x2900)) return 1;
  if (utf8proc_category(code) == UTF8PROC_CATEGORY_CN) return likely_wide(code) ? 2 : 1;
  return utf8proc_charwidth(code);
}

bool is_ascii(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::uint64_t all = 0;
  while (text.size() >= sizeof(all)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data(), sizeof(eight));
    all |= eight;
    text.remove_prefix(sizeof(eight));
  }
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return (all & kHighBits) == 0;
}

}  // namespace

Glyph first_glyph(std::string_view text) {
  const auto [code, bytes] = first_character(text);
  return {static_cast<char32_t>(code), bytes, character_width(code)};
}

std::size_t encode_utf8(char32_t code, std::span<char, 4> bytes) {
  const auto tail = [code](unsigned shift) { return static_cast<char>(0x80U | (code >> shift & 0x3FU)); };
  if (code < 0x80) {
    bytes[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    bytes[0] = static_cast<char>(0xC0U | code >> 6U);
    bytes[1] = tail(0);
    return 2;
  }
  if (code < 0x10000) {
    bytes[0] = static_cast<char>(0xE0U | code >> 12U);
    bytes[1] = tail(6);
    bytes[2] = tail(0);
    return 3;
  }
  bytes[0] = static_cast<char>(0xF0U | code >> 18U);
  bytes[1] = tail(12);
  bytes[2] = tail(6);
  bytes[3] = tail(0);
  return 4;
}

std::string clean(std::string_view text, bool unicode) {
  std::string safe = printable(text);
  if (unicode || is_ascii(safe)) return safe;
  std::string kept;
  kept.reserve(safe.size());
  for (std::string_view rest = safe; !rest.empty();) {
    const auto [code, bytes] = first_character(rest);
    if (code < 0x80) {
      kept += rest.substr(0, bytes);
    } else if (character_width(code) > 0) {
      kept += '?';
    }
    rest.remove_prefix(bytes);
  }
  return kept;
}

int width(std::string_view text) {
  if (is_ascii(text)) return static_cast<int>(text.size());
  int columns = 0;
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    columns += character_width(code);
    text.remove_prefix(bytes);
  }
  return columns;
}

std::string cut(std::string_view text, int columns, std::string_view ellipsis) {
  if (columns <= 0) return {};
  if (width(text) <= columns) return std::string(text);
  const int mark = width(ellipsis);
  const int room = columns - (mark <= columns ? mark : 0);
  // `border` is the last place where the text can be cut and still fit.
  std::size_t border = 0;
  std::size_t at = 0;
  int used = 0;
  utf8proc_int32_t before = 0;
  utf8proc_int32_t state = 0;
  while (at < text.size()) {
    const auto [code, bytes] = first_character(text.substr(at));
    if (at == 0 || utf8proc_grapheme_break_stateful(before, code, &state)) {
      if (used > room) break;
      border = at;
    }
    used += character_width(code);
    before = code;
    at += bytes;
  }
  std::string kept(text.substr(0, border));
  if (mark <= columns) kept += ellipsis;
  return kept;
}

std::string pad(std::string_view text, int columns, Align align) {
  const auto missing = static_cast<std::size_t>(std::max(0, columns - width(text)));
  const std::string blanks(missing, ' ');
  return align == Align::right ? blanks + std::string(text) : std::string(text) + blanks;
}

std::vector<std::string> wrap(std::string_view text, int columns) {
  std::vector<std::string> lines;
  std::string current;
  for (const auto piece : split_words(text)) {
    std::string_view rest = piece;
    if (!current.empty() && width(current) + 1 + width(rest) <= columns) {
      current += ' ';
      current += rest;
      continue;
    }
    if (!current.empty()) lines.push_back(std::move(current));
    while (width(rest) > columns) {
      const auto head = cut(rest, columns, "");
      if (head.empty()) return lines;  // not a single character fits
      lines.push_back(head);
      rest.remove_prefix(head.size());
    }
    current = rest;
  }
  if (!current.empty()) lines.push_back(std::move(current));
  return lines;
}

}  // namespace gpulse::term

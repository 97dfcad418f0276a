// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpulse {

namespace {

constexpr std::string_view kBlank = " \t\r\n\v\f";

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool beyond = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

// The character of a well-formed sequence.
char32_t first_code(std::string_view text, std::size_t length) {
  const auto lead = static_cast<unsigned char>(text[0]);
  char32_t code = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return code;
}

// Visible ASCII, as nearly all text is.
bool is_plain(std::string_view text) {
  bool plain = true;
  for (const char c : text) plain &= c >= ' ' && c <= '~';
  return plain;
}

struct CodeRange {
  char32_t first, last;
};

// What a terminal acts on, what breaks or turns a line, and what cannot be seen and so makes two names look the same:
// control characters, the default ignorables of Unicode, and those that are no characters, which XML forbids.
constexpr std::array kHidden{
    CodeRange{0x0000, 0x001F}, CodeRange{0x007F, 0x009F},   CodeRange{0x00AD, 0x00AD},   CodeRange{0x034F, 0x034F},
    CodeRange{0x061C, 0x061C}, CodeRange{0x115F, 0x1160},   CodeRange{0x17B4, 0x17B5},   CodeRange{0x180B, 0x180F},
    CodeRange{0x200B, 0x200B}, CodeRange{0x200E, 0x200F},   CodeRange{0x2028, 0x202E},   CodeRange{0x2060, 0x206F},
    CodeRange{0x3164, 0x3164}, CodeRange{0xFDD0, 0xFDEF},   CodeRange{0xFEFF, 0xFEFF},   CodeRange{0xFFA0, 0xFFA0},
    CodeRange{0xFFF0, 0xFFFB}, CodeRange{0x1BCA0, 0x1BCA3}, CodeRange{0x1D173, 0x1D17A}, CodeRange{0xE0000, 0xE0FFF},
};

bool is_hidden(char32_t code) {
  const auto in = [code](const CodeRange &range) { return range.first <= code && code <= range.last; };
  return (code & 0xFFFEU) == 0xFFFE || std::ranges::any_of(kHidden, in);
}

// Joiners and variation selectors: part of many scripts and pictures, but invisible between letters of ASCII.
bool modifies_the_one_before(char32_t code) {
  return code == 0x200C || code == 0x200D || (code >= 0xFE00 && code <= 0xFE0F);
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<double> parse_double(std::string_view text) {
  double value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view next_piece(std::string_view &rest, char separator) {
  const auto at = rest.find(separator);
  const auto piece = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return piece;
}

std::string_view next_word(std::string_view &rest) {
  constexpr auto kIsBlank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  const auto first = std::find_if_not(rest.begin(), rest.end(), kIsBlank);
  const auto end = std::find_if(first, rest.end(), kIsBlank);
  const std::string_view word(first, end);
  rest = {end, rest.end()};
  return word;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const auto at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> found;
  for (std::size_t at = text.find_first_not_of(kBlank); at != std::string_view::npos;
       at = text.find_first_not_of(kBlank, at)) {
    const auto end = text.find_first_of(kBlank, at);
    found.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) break;
    at = end;
  }
  return found;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string safe;
  safe.reserve(text.size());
  bool after_letter = false;  // of another script than ASCII, or a picture
  for (auto rest = text; !rest.empty();) {
    const auto length = utf8_length(rest);
    const auto code = length == 0 ? U'\uFFFD' : first_code(rest, length);
    const bool kept = length > 0 && !is_hidden(code) && (after_letter || !modifies_the_one_before(code));
    if (length == 0) {
      safe += "\uFFFD";
    } else if (kept) {
      safe += rest.substr(0, length);
    } else {
      safe += ' ';
    }
    after_letter = kept && code >= 0x80;
    rest.remove_prefix(length == 0 ? 1 : length);
  }
  return safe;
}

std::string_view first_bytes(std::string_view text, std::size_t most) {
  constexpr auto kContinues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  if (text.size() <= most) return text;
  while (most > 0 && kContinues(text[most])) --most;
  return text.substr(0, most);
}

Text::Text(std::string text) : value_(is_plain(text) ? std::move(text) : printable(text)) {}

std::string lower(std::string_view text) {
  std::string result(text);
  for (auto &c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return result;
}

namespace {

constexpr std::array<std::int64_t, 4> kPowersOfTen{1, 10, 100, 1000};

// The number times the power, rounded as its decimal digits would be; none where that takes exact arithmetic.
std::optional<std::int64_t> rounded(double number, double power) {
  constexpr double kLargest = 1e15;
  constexpr double kSurelyNoTie = 0.499;
  const double whole = std::nearbyint(number * power);
  if (!(std::abs(whole) < kLargest)) return std::nullopt;
  if (power > 1 && std::abs(std::fma(number, power, -whole)) > kSurelyNoTie) return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

std::string exactly_fixed(double number, int digits) {
  std::array<char, 400> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, digits).ptr;
  return {text.data(), end};
}

}  // namespace

[[gnu::hot]] std::string fixed(double number, int digits) {
  const auto place = static_cast<std::size_t>(digits);
  const auto scaled =
      place < kPowersOfTen.size() ? rounded(number, static_cast<double>(kPowersOfTen[place])) : std::nullopt;
  if (!scaled) return exactly_fixed(number, digits);
  std::array<char, 24> text{};
  char *end = text.data();
  if (std::signbit(number)) *end++ = '-';
  const auto size = std::abs(*scaled);
  end = std::to_chars(end, text.data() + text.size(), size / kPowersOfTen[place]).ptr;
  if (digits > 0) *end++ = '.';
  for (auto at = place; at > 0; --at) *end++ = static_cast<char>('0' + size / kPowersOfTen[at - 1] % 10);
  return {text.data(), end};
}

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace gpulse

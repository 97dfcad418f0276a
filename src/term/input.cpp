// SPDX-License-Identifier: Apache-2.0
#include "term/input.hpp"

#include <optional>

#include "term/input_sequence.hpp"
#include "term/width.hpp"

namespace gpulse::term {

namespace {

constexpr char kEscape = '\033';
constexpr std::string_view kPasteEnd = "\033[201~";
constexpr int kPasteBegins = 200;
constexpr std::size_t kLongestSequence = 256;
constexpr std::size_t kLongestString = 4096;

bool is_between(char byte, unsigned low, unsigned high) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= low && value <= high;
}

void add(const std::optional<Input> &input, bool alt, std::vector<Input> &out) {
  if (!input) return;
  out.push_back(*input);
  if (auto *press = std::get_if<KeyPress>(&out.back())) press->alt = press->alt || alt;
}

// Length of a character by its first byte; 0: no character begins with it.
std::size_t promised_length(char lead) {
  if (is_between(lead, 0, 0x7F)) return 1;
  if (is_between(lead, 0xC2, 0xDF)) return 2;
  if (is_between(lead, 0xE0, 0xEF)) return 3;
  return is_between(lead, 0xF0, 0xF4) ? 4 : 0;
}

// A character or a control code.
std::size_t take_plain(std::string_view bytes, bool alt, std::vector<Input> &out) {
  if (bytes.empty()) return 0;
  const auto length = promised_length(bytes[0]);
  if (length == 0) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= bytes.size()) return 0;
    if (!is_between(bytes[i], 0x80, 0xBF)) return 1;
  }
  const Glyph glyph = first_glyph(bytes.substr(0, length));
  const bool control = glyph.code >= 0x80 && glyph.code < 0xA0;
  if (glyph.bytes == length && !control) add(plain_key(glyph.code), alt, out);
  return length;
}

// After "ESC [ M": three bytes, each offset by 32.
std::size_t take_x10(std::string_view bytes, std::vector<Input> &out) {
  for (std::size_t i = 3; i < 6; ++i) {
    if (i >= bytes.size()) return 0;
    if (is_between(bytes[i], 0, 31)) return 3;
  }
  const auto at = [bytes](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
  add(x10_mouse(at(3), at(4), at(5)), false, out);
  return 6;
}

// The Linux console's "ESC [ [ A" to E: the first function keys.
std::size_t take_linux(std::string_view bytes, bool alt, std::vector<Input> &out) {
  if (bytes.size() < 4) return 0;
  if (is_between(bytes[3], 0, 31) || is_between(bytes[3], 0x7F, 0xFF)) return 3;
  if (is_between(bytes[3], 'A', 'E')) {
    add(KeyPress{.key = static_cast<Key>(static_cast<int>(Key::f1) + bytes[3] - 'A')}, alt, out);
  }
  return 4;
}

// rxvt ends "ESC [ 7 $" with a byte that ends no sequence elsewhere.
bool ends_as_rxvt(std::string_view body, char byte) {
  return byte == '$' && !body.empty() && body.size() <= 2 && body.find_first_not_of("0123456789") == body.npos;
}

std::size_t end_of_string(std::string_view bytes) {
  const auto seen = bytes.substr(0, kLongestString);
  for (std::size_t i = 2; i < seen.size(); ++i) {
    if (seen[i] == '\a' || seen[i] == '\x18' || seen[i] == '\x1a') return i + 1;
    if (seen[i] != kEscape || i + 1 >= seen.size()) continue;
    return seen[i + 1] == '\\' ? i + 2 : i;
  }
  return bytes.size() >= kLongestString ? kLongestString : 0;
}

// Line feeds and tabs become spaces; other control characters and invalid UTF-8 are removed.
std::string readable(std::string_view text) {
  std::string kept;
  bool between = false;
  while (!text.empty()) {
    const char lead = text[0];
    const Glyph glyph = first_glyph(text);
    const bool bad = glyph.bytes == 1 && !is_between(lead, 0, 0x7F);
    if (lead == '\n' || lead == '\r' || lead == '\t') {
      between = !kept.empty();
    } else if (!bad && glyph.code >= 0x20 && (glyph.code < 0x7F || glyph.code > 0x9F)) {
      if (between) kept += ' ';
      between = false;
      kept += text.substr(0, glyph.bytes);
    }
    text.remove_prefix(glyph.bytes);
  }
  return kept;
}

// Alt with a character that could have begun a longer sequence.
std::size_t take_introducer(std::string_view bytes, bool alt, std::vector<Input> &out) {
  if (alt) out.emplace_back(KeyPress{.key = Key::escape});
  return take_plain(bytes.substr(1), true, out) + 1;
}

}  // namespace

std::size_t InputParser::take_control(std::string_view bytes, bool alt, std::vector<Input> &out) {
  const bool ss3 = bytes[1] == 'O';
  if (!ss3 && bytes.size() > 2 && bytes[2] == 'M') return take_x10(bytes, out);
  if (!ss3 && bytes.size() > 2 && bytes[2] == '[') return take_linux(bytes, alt, out);
  const auto seen = bytes.substr(0, kLongestSequence);
  for (std::size_t i = 2; i < seen.size(); ++i) {
    const auto body = seen.substr(2, i - 2);
    if (is_between(seen[i], 0x40, 0x7E) || (!ss3 && ends_as_rxvt(body, seen[i]))) {
      const auto sequence = read_sequence(body, seen[i]);
      pasting_ = !ss3 && seen[i] == '~' && sequence.prefix == 0 && sequence.number(0) == kPasteBegins;
      if (!pasting_) add(ss3 ? ss3_meaning(sequence) : csi_meaning(sequence), alt, out);
      return i + 1;
    }
    if (is_between(seen[i], 0x20, 0x3F)) continue;
    // The sequence was cut off: what follows is something new.
    return i == 2 ? take_introducer(bytes, alt, out) : i;
  }
  return bytes.size() >= kLongestSequence ? kLongestSequence : 0;
}

std::size_t InputParser::take(std::string_view bytes, std::vector<Input> &out) {
  if (bytes[0] != kEscape) return take_plain(bytes, false, out);
  if (bytes.size() == 1) return 0;
  switch (bytes[1]) {
    case '[':
    case 'O':
      return take_control(bytes, false, out);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
      return end_of_string(bytes);
    case kEscape: {
      if (bytes.size() == 2) return 0;
      if (bytes[2] == '[' || bytes[2] == 'O') {
        const auto length = take_control(bytes.substr(1), true, out);
        return length == 0 ? 0 : length + 1;
      }
      out.emplace_back(KeyPress{.key = Key::escape});
      return 1;
    }
    default: {
      const auto length = take_plain(bytes.substr(1), true, out);
      return length == 0 ? 0 : length + 1;
    }
  }
}

std::size_t InputParser::take_pasted(std::string_view bytes, std::vector<Input> &out) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == kPasteEnd[paste_end_seen_]) {
      if (++paste_end_seen_ < kPasteEnd.size()) continue;
      out.emplace_back(Paste{readable(pasted_)});
      pasted_.clear();
      paste_end_seen_ = 0;
      pasting_ = false;
      return i + 1;
    }
    // It was text after all, without its Escape, which would be removed anyway.
    if (paste_end_seen_ > 0) pasted_ += kPasteEnd.substr(1, paste_end_seen_ - 1);
    paste_end_seen_ = bytes[i] == kEscape ? 1 : 0;
    if (paste_end_seen_ == 0) pasted_ += bytes[i];
    if (pasted_.size() > kLongestPaste) pasted_.resize(kLongestPaste);
  }
  return bytes.size();
}

void InputParser::feed(std::string_view bytes, std::vector<Input> &out) {
  pending_ += bytes;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const auto length = pasting_ ? take_pasted(rest, out) : take(rest, out);
    if (length == 0) break;
    rest.remove_prefix(length);
  }
  pending_.erase(0, pending_.size() - rest.size());
}

void InputParser::settle(std::vector<Input> &out) {
  std::string_view rest = pending_;
  while (rest.starts_with("\033\033")) {
    out.emplace_back(KeyPress{.key = Key::escape});
    rest.remove_prefix(1);
  }
  if (rest == "\033") {
    out.emplace_back(KeyPress{.key = Key::escape});
  } else if (rest.size() == 2 && rest[0] == kEscape) {
    take_plain(rest.substr(1), true, out);
  }
  pending_.clear();
}

}  // namespace gpulse::term

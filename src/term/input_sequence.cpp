// SPDX-License-Identifier: Apache-2.0
#include "term/input_sequence.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gpulse::term {

namespace {

constexpr int kHighestNumber = 0x110000;
constexpr int kShift = 1, kAlt = 2, kCtrl = 4;

int read_number(std::string_view text) {
  int number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return 0;
    number = std::min(number * 10 + (digit - '0'), kHighestNumber);
  }
  return number;
}

// Terminals send one plus a bit for each modifier held; 0 where they send nothing.
KeyPress with_modifiers(KeyPress press, int modifiers) {
  const int held = modifiers > 0 ? modifiers - 1 : 0;
  press.shift = press.shift || (held & kShift) != 0;
  press.alt = press.alt || (held & kAlt) != 0;
  press.ctrl = press.ctrl || (held & kCtrl) != 0;
  return press;
}

std::optional<Key> lettered_key(char letter) {
  switch (letter) {
    case 'A':
      return Key::up;
    case 'B':
      return Key::down;
    case 'C':
      return Key::right;
    case 'D':
      return Key::left;
    case 'H':
      return Key::home;
    case 'F':
      return Key::end;
    case 'P':
      return Key::f1;
    case 'Q':
      return Key::f2;
    case 'R':
      return Key::f3;
    case 'S':
      return Key::f4;
    default:
      return std::nullopt;
  }
}

std::optional<Key> numbered_key(int number) {
  static constexpr auto kNone = Key::character;
  static constexpr std::array<Key, 25> kKeys{
      kNone,   Key::home, Key::insert, Key::remove, Key::end, Key::page_up, Key::page_down, Key::home, Key::end,
      kNone,   kNone,     Key::f1,     Key::f2,     Key::f3,  Key::f4,      Key::f5,        kNone,     Key::f6,
      Key::f7, Key::f8,   Key::f9,     Key::f10,    kNone,    Key::f11,     Key::f12};
  if (number <= 0 || static_cast<std::size_t>(number) >= kKeys.size()) return std::nullopt;
  const Key key = kKeys[static_cast<std::size_t>(number)];
  if (key == kNone) return std::nullopt;
  return key;
}

// A key reported by its character: with Ctrl the small letter, with Shift the shifted character.
std::optional<Input> character_key(int code, int shifted, int modifiers) {
  // Functional keys of the kitty protocol lie in the private use area.
  if (code <= 0 || code >= kHighestNumber || (code >= 0xD800 && code < 0xF900)) return std::nullopt;
  if (code >= 0x80 && code < 0xA0) return std::nullopt;
  KeyPress press = with_modifiers(plain_key(static_cast<char32_t>(code)), modifiers);
  if (press.key != Key::character) return press;
  if (press.ctrl) {
    if (press.character >= 'A' && press.character <= 'Z') press.character += 'a' - 'A';
  } else if (press.shift) {
    if (shifted > ' ' && shifted < 0x7F) press.character = static_cast<char32_t>(shifted);
    if (press.character >= 'a' && press.character <= 'z') press.character -= 'a' - 'A';
  }
  press.shift = false;
  return press;
}

// Coordinates count from 1; the low bits of the code are the button, then come modifiers, motion and wheel.
std::optional<Input> mouse(int code, int x, int y, bool release) {
  if (code < 0 || x < 1 || y < 1) return std::nullopt;
  MouseEvent event{.x = x - 1, .y = y - 1, .ctrl = (code & 16) != 0, .alt = (code & 8) != 0, .shift = (code & 4) != 0};
  const int button = code & 3;
  if (code >= 128) return std::nullopt;  // side buttons
  if ((code & 64) != 0) {
    if (button > 1 || release) return std::nullopt;  // horizontal wheel
    event.action = button == 0 ? MouseAction::wheel_up : MouseAction::wheel_down;
    return event;
  }
  const bool motion = (code & 32) != 0;
  if (motion && release) return std::nullopt;
  if (motion && button == 3) {  // no button is held
    event.action = MouseAction::move;
    return event;
  }
  event.action = motion ? MouseAction::drag : release || button == 3 ? MouseAction::release : MouseAction::press;
  event.button = static_cast<std::uint8_t>(button == 3 ? 0 : button);
  return event;
}

// rxvt encodes the modifiers in the final byte.
int rxvt_modifiers(char final) {
  switch (final) {
    case '$':
      return 1 + kShift;
    case '^':
      return 1 + kCtrl;
    case '@':
      return 1 + kShift + kCtrl;
    default:
      return 0;
  }
}

std::optional<Input> numbered_meaning(const Sequence &sequence) {
  if (sequence.number(0) == 27 && sequence.count == 3) {
    return character_key(sequence.number(2), 0, sequence.number(1));
  }
  const auto key = numbered_key(sequence.number(0));
  if (!key) return std::nullopt;
  const int modifiers = sequence.final == '~' ? sequence.number(1) : rxvt_modifiers(sequence.final);
  return with_modifiers({.key = *key}, modifiers);
}

std::optional<Input> lettered_meaning(const Sequence &sequence) {
  // A first number other than 1 is a reply of the terminal, such as a cursor position.
  if (sequence.count > 0 && sequence.number(0) > 1) return std::nullopt;
  if (const auto key = lettered_key(sequence.final)) return with_modifiers({.key = *key}, sequence.number(1));
  if (sequence.final == 'Z') {
    return with_modifiers({.key = Key::tab, .shift = true}, sequence.number(1));
  }
  if (sequence.final >= 'a' && sequence.final <= 'd') {
    const auto key = lettered_key(static_cast<char>(sequence.final - 'a' + 'A'));
    return KeyPress{.key = *key, .shift = true};
  }
  return std::nullopt;
}

}  // namespace

Sequence read_sequence(std::string_view body, char final) {
  Sequence sequence;
  sequence.final = final;
  if (!body.empty() && body[0] >= '<' && body[0] <= '?') {
    sequence.prefix = body[0];
    body.remove_prefix(1);
  }
  // With intermediate bytes it is another sequence, which we do not know.
  if (body.find_first_not_of("0123456789;:") != std::string_view::npos) sequence.final = 0;
  while (!body.empty() && sequence.count < sequence.numbers.size()) {
    auto field = next_piece(body, ';');
    const std::size_t at = sequence.count++;
    sequence.numbers[at] = read_number(next_piece(field, ':'));
    const int detail = read_number(next_piece(field, ':'));
    if (at == 0) sequence.shifted = detail;
    if (at == 1) sequence.release = detail == 3;
  }
  return sequence;
}

std::optional<Input> csi_meaning(const Sequence &sequence) {
  const auto number = [&sequence](std::size_t at) { return sequence.number(at); };
  if (sequence.prefix == '<' && (sequence.final == 'M' || sequence.final == 'm') && sequence.count == 3) {
    return mouse(number(0), number(1), number(2), sequence.final == 'm');
  }
  if (sequence.prefix != 0 || sequence.release) return std::nullopt;
  switch (sequence.final) {
    case 'M':
      if (sequence.count != 3 || number(0) < 32) return std::nullopt;
      return mouse(number(0) - 32, number(1), number(2), false);
    case 'u':
      return character_key(number(0), sequence.shifted, number(1));
    case '~':
    case '^':
    case '$':
    case '@':
      return numbered_meaning(sequence);
    default:
      return lettered_meaning(sequence);
  }
}

std::optional<Input> ss3_meaning(const Sequence &sequence) {
  // Some send ESC O 5 A, others ESC O 1 ; 5 A.
  const int modifiers = sequence.number(sequence.count > 1 ? 1 : 0);
  if (const auto key = lettered_key(sequence.final)) return with_modifiers({.key = *key}, modifiers);
  if (sequence.final >= 'a' && sequence.final <= 'd') {
    const auto key = lettered_key(static_cast<char>(sequence.final - 'a' + 'A'));
    return KeyPress{.key = *key, .ctrl = true};
  }
  // Number pad: each letter is 64 above the character printed on the key.
  if (sequence.final == 'M') return with_modifiers({.key = Key::enter}, modifiers);
  if ((sequence.final >= 'j' && sequence.final <= 'y') || sequence.final == 'X') {
    const int character = sequence.final == 'X' ? '=' : sequence.final - 64;
    auto press = with_modifiers({.character = static_cast<char32_t>(character)}, modifiers);
    press.shift = false;
    return press;
  }
  return std::nullopt;
}

KeyPress plain_key(char32_t code) {
  switch (code) {
    case 0:
      return {.character = ' ', .ctrl = true};
    case 8:
    case 127:
      return {.key = Key::backspace};
    case 9:
      return {.key = Key::tab};
    case 10:
    case 13:
      return {.key = Key::enter};
    case 27:
      return {.key = Key::escape};
    default:
      break;
  }
  if (code < 27) return {.character = code + 'a' - 1, .ctrl = true};
  if (code < 32) return {.character = code + 64, .ctrl = true};
  return {.character = code};
}

std::optional<Input> x10_mouse(unsigned char code, unsigned char x, unsigned char y) {
  return mouse(code - 32, x - 32, y - 32, false);
}

}  // namespace gpulse::term

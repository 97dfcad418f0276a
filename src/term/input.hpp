// SPDX-License-Identifier: Apache-2.0
// What a terminal sends, as keys, mouse events and pasted text. Pure: bytes come in pieces of any size, time comes in
// by settle(). Understands xterm's, the Linux console's, rxvt's, tmux' and screen's ways of saying a key, SGR and X10
// mouse reports, bracketed paste; whatever it does not know it drops whole, so that no half of it turns into keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpulse::term {

enum class Key : std::uint8_t {
  character,  // KeyPress::character says which
  enter,
  escape,
  tab,
  backspace,
  remove,  // Delete
  insert,
  up,
  down,
  left,
  right,
  home,
  end,
  page_up,
  page_down,
  f1,
  f2,
  f3,
  f4,
  f5,
  f6,
  f7,
  f8,
  f9,
  f10,
  f11,
  f12,
};

struct KeyPress {
  Key key = Key::character;
  char32_t character = 0;  // as written: 'A' with Shift is 'A'; with Ctrl the small letter
  bool ctrl = false;
  bool alt = false;
  bool shift = false;  // not for characters; Shift-Tab is tab with shift
  bool operator==(const KeyPress &) const = default;
};

inline bool is_letter(const KeyPress &press, char32_t letter) {
  return press.key == Key::character && !press.ctrl && !press.alt && press.character == letter;
}
inline bool is_control(const KeyPress &press, char32_t letter) {
  return press.key == Key::character && press.ctrl && press.character == letter;
}

enum class MouseAction : std::uint8_t { press, release, drag, wheel_up, wheel_down };

struct MouseEvent {
  MouseAction action = MouseAction::press;
  std::uint8_t button = 0;  // 0 left, 1 middle, 2 right
  int x = 0;                // from 0
  int y = 0;
  bool ctrl = false;
  bool alt = false;
  bool shift = false;
  bool operator==(const MouseEvent &) const = default;
};

struct Paste {
  std::string text;  // valid UTF-8 without control characters; at most kLongestPaste bytes
  bool operator==(const Paste &) const = default;
};

using Input = std::variant<KeyPress, MouseEvent, Paste>;

class InputParser {
 public:
  static constexpr std::size_t kLongestPaste = 4096;

  void feed(std::string_view bytes, std::vector<Input> &out);
  // Whether more bytes would tell what the last ones mean: after some 50 ms without any, call settle().
  bool waiting() const { return !pending_.empty(); }
  // No more comes: a lone Escape is the key.
  void settle(std::vector<Input> &out);

 private:
  // Each gives the bytes of what `bytes` start with; 0: not whole yet.
  std::size_t take(std::string_view bytes, std::vector<Input> &out);
  std::size_t take_control(std::string_view bytes, bool alt, std::vector<Input> &out);
  std::size_t take_pasted(std::string_view bytes, std::vector<Input> &out);

  std::string pending_;
  bool pasting_ = false;
  std::string pasted_;
  std::size_t paste_end_seen_ = 0;  // bytes of the mark that ends a paste
};

}  // namespace gpulse::term

// SPDX-License-Identifier: Apache-2.0
// Turns the bytes that a terminal sends into keys, mouse events and pasted text. Bytes may come in pieces of any size.
// Understands the key sequences of xterm, the Linux console, rxvt, tmux and screen, SGR and X10 mouse reports, and
// bracketed paste. Unknown sequences are dropped whole, so that no part of one is taken for keys. Used by Terminal.
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
  char32_t character = 0;  // with Shift the capital letter, with Ctrl the small one
  bool ctrl = false;
  bool alt = false;
  bool shift = false;  // only for named keys, such as Shift-Tab
  bool operator==(const KeyPress &) const = default;
};

inline bool is_letter(const KeyPress &press, char32_t letter) {
  return press.key == Key::character && !press.ctrl && !press.alt && press.character == letter;
}
inline bool is_control(const KeyPress &press, char32_t letter) {
  return press.key == Key::character && press.ctrl && press.character == letter;
}

enum class MouseAction : std::uint8_t { press, release, drag, wheel_up, wheel_down, move };

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
  // Whether it has an incomplete sequence: call settle() if no byte follows within about 50 ms.
  bool waiting() const { return !pending_.empty(); }
  // No more bytes come: a lone Escape is the Escape key.
  void settle(std::vector<Input> &out);

 private:
  // Each returns the length of what `bytes` begin with; 0: it is incomplete.
  std::size_t take(std::string_view bytes, std::vector<Input> &out);
  std::size_t take_control(std::string_view bytes, bool alt, std::vector<Input> &out);
  std::size_t take_pasted(std::string_view bytes, std::vector<Input> &out);

  std::string pending_;
  bool pasting_ = false;
  std::string pasted_;
  std::size_t paste_end_seen_ = 0;  // bytes of the sequence that ends a paste
};

}  // namespace gpulse::term

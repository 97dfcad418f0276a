// SPDX-License-Identifier: Apache-2.0
// What the live view is made of: pages that fill the screen, and dialogues on top of them. App keeps a stack of
// components, gives each input to the topmost one and draws what can be seen of the rest. UI thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "term/input.hpp"
#include "term/screen.hpp"

namespace gpulse::tui {

struct Look;
struct Session;

// What a key does, run by pressing it or by clicking on it in the key bar.
using Command = void (*)(Session &session);

// One entry of the key bar: "? Help".
struct KeyHint {
  std::string_view key;
  std::string_view text;
  Command run = nullptr;  // none: it cannot be clicked on
};

enum class Place : std::uint8_t {
  screen,  // a page: hides everything below
  window,  // a dialogue in the middle of the page
  line,    // a dialogue on the last line, where messages are shown otherwise
};

class Component {
 public:
  Component() = default;
  Component(const Component &) = delete;
  Component &operator=(const Component &) = delete;
  virtual ~Component() = default;

  virtual Place place() const { return Place::screen; }
  // Returns false when it is done and should be closed. Components opened meanwhile (Session::open) go on top.
  virtual bool handle(const term::Input &input, Session &session) = 0;
  // Records in Session::hits what can be clicked on.
  virtual void draw(const term::Area &area, const Look &look, Session &session) = 0;
  // The keys worth mentioning on the screen, the most important first.
  virtual std::vector<KeyHint> key_bar() const { return {}; }
};

// "Esc closes   ? help", for the frame of a page.
std::string key_note(const std::vector<KeyHint> &hints);

// Moves the first row of a list by some lines; with Ctrl by a page.
void scroll_by_wheel(std::size_t &first, const term::MouseEvent &wheel, std::size_t page);

}  // namespace gpulse::tui

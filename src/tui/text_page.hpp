// SPDX-License-Identifier: Apache-2.0
// A page of text to scroll through: help, environment. UI thread only.
#pragma once

#include <string>
#include <vector>

#include "term/style.hpp"
#include "tui/component.hpp"

namespace gpulse::tui {

using TextLines = std::vector<std::vector<term::Span>>;

// Which part of a longer text is seen, and the keys and the wheel that move it.
class TextScroll {
 public:
  // False: the key does not scroll.
  bool handle(const term::KeyPress &key);
  void handle(const term::MouseEvent &mouse);
  void draw(const term::Area &area, const Look &look, const TextLines &lines);

 private:
  void move(std::ptrdiff_t lines);

  std::size_t first_ = 0;  // line at the top
  std::size_t count_ = 0;  // of lines, and of those seen, after drawing
  int page_ = 1;
  int shift_ = 0;  // columns scrolled to the right
};

class TextPage final : public Component {
 public:
  TextPage(std::string title, TextLines lines) : title_(std::move(title)), lines_(std::move(lines)) {}

  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;
  std::vector<KeyHint> key_bar() const override { return {{"Esc", "closes"}}; }

 private:
  std::string title_;
  TextLines lines_;
  TextScroll scroll_;
};

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// A page of text to scroll through: help, environment. UI thread only.
#pragma once

#include <string>
#include <vector>

#include "term/style.hpp"
#include "tui/component.hpp"

namespace gpulse::tui {

using TextLines = std::vector<std::vector<term::Span>>;

class TextPage final : public Component {
 public:
  TextPage(std::string title, TextLines lines) : title_(std::move(title)), lines_(std::move(lines)) {}

  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;
  std::vector<KeyHint> key_bar() const override { return {{"Esc", "closes"}}; }

 private:
  bool handle_key(const term::KeyPress &key);
  void scroll(std::ptrdiff_t lines);

  std::string title_;
  TextLines lines_;
  std::size_t first_ = 0;  // line at the top
  int shift_ = 0;          // columns scrolled to the right
  int page_ = 1;           // lines seen, after drawing
};

}  // namespace gpulse::tui

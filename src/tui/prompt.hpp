// SPDX-License-Identifier: Apache-2.0
// A line to type on, at the bottom of the screen. UI thread only.
#pragma once

#include <functional>
#include <string>

#include "tui/component.hpp"

namespace gpulse::tui {

class Prompt final : public Component {
 public:
  // Called after every change of the text, and with the first text again when the user gives up. Returns what is wrong
  // with the text.
  using Changed = std::function<std::string(Session &session, const std::string &text)>;
  // Called when the user presses Enter.
  using Done = std::function<void(Session &session, const std::string &text)>;

  Prompt(std::string question, std::string text, Changed changed, Done done);

  Place place() const override { return Place::line; }
  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;

 private:
  enum class Answer : std::uint8_t { none, changed, done, cancelled };

  Answer handle_key(const term::KeyPress &key);
  Answer handle_control(char32_t letter);
  Answer insert(std::string_view text);
  Answer erase(std::size_t from, std::size_t to);
  // Of the character before the cursor, and of the one after the character under it.
  std::size_t before() const;
  std::size_t after() const;

  std::string question_;
  std::string text_;  // UTF-8
  std::string first_text_;
  std::size_t at_;  // cursor, in bytes
  std::string problem_;
  Changed changed_;
  Done done_;
};

}  // namespace gpulse::tui

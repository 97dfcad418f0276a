// SPDX-License-Identifier: Apache-2.0
// A window that asks before something is done. No is what Enter answers unless the user moves to Yes. UI thread only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "term/style.hpp"
#include "tui/component.hpp"

namespace gpulse::tui {

class Question final : public Component {
 public:
  using Answered = std::function<void(Session &session, bool yes)>;

  Question(std::string title, std::vector<term::Span> lines, Answered answered)
      : title_(std::move(title)), lines_(std::move(lines)), answered_(std::move(answered)) {}

  Place place() const override { return Place::window; }
  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;

 private:
  std::string title_;
  std::vector<term::Span> lines_;
  Answered answered_;
  bool yes_ = false;  // the button that Enter presses
};

}  // namespace gpulse::tui

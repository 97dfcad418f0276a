// SPDX-License-Identifier: Apache-2.0
// The help: a page with every key of the key table, the mouse, and where habits from other programs clash; and a page
// with the labels that are on the screen now and what they mean. UI thread only.
#pragma once

#include "tui/component.hpp"
#include "tui/text_page.hpp"

namespace gpulse::tui {

class HelpPage final : public Component {
 public:
  HelpPage(TextLines keys, TextLines labels) : keys_(std::move(keys)), labels_(std::move(labels)) {}

  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;
  std::vector<KeyHint> key_bar() const override;

 private:
  TextLines keys_, labels_;
  bool is_glossary_ = false;
  TextScroll keys_scroll_, labels_scroll_;
};

void open_help(Session &session);

}  // namespace gpulse::tui

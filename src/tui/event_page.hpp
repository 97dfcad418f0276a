// SPDX-License-Identifier: Apache-2.0
// The page of events: all that happened, to choose from; Enter says what one means and what to do about it. UI thread
// only.
#pragma once

#include "tui/component.hpp"
#include "tui/event_log.hpp"

namespace gpulse::tui {

class EventPage final : public Component {
 public:
  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;
  std::vector<KeyHint> key_bar() const override { return {{"Enter", "what to do"}, {"Esc", "closes"}}; }

 private:
  std::size_t at_ = 0;  // from the newest
  std::size_t first_ = 0;
  std::size_t page_ = 1;  // lines seen, after drawing
};

void open_events(Session &session);
// What one of them means, counted from the newest.
void open_event(Session &session, std::size_t place);

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// The live view without a terminal: inputs and samples come in, a screen in memory comes out. It only routes: each
// input goes to the topmost page or dialogue. Driven by loop.cpp, and by the tests. One thread; it never calls a
// driver.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "term/input.hpp"
#include "term/screen.hpp"
#include "tui/component.hpp"
#include "tui/session.hpp"

namespace gpulse::tui {

class App {
 public:
  App(AppOptions options, feed::Timeline &timeline);

  void resize(term::Size size);
  // The timeline has grown.
  void sample_came(Monotonic now);
  void handle(const term::Input &input, Monotonic now);
  // A recording plays on, messages expire.
  void tick(Monotonic now);
  // When tick() has something to do next.
  std::optional<Monotonic> due() const;

  // Whether something has changed since the last draw().
  bool changed() const { return session_.requests.draw; }
  const term::Screen &draw(Monotonic now);

  bool ended() const { return session_.requests.quit; }
  // No sample has come yet.
  bool waiting() const { return session_.snapshot == nullptr; }
  // Each is reported once: stop as by Ctrl-Z, paint the whole terminal again, write the settings.
  bool take_suspend() { return std::exchange(session_.requests.suspend, false); }
  bool take_redraw() { return std::exchange(session_.requests.redraw, false); }
  bool take_save() { return std::exchange(session_.requests.save, false); }
  const Settings &settings() const { return session_.settings; }
  // Between two samples, as the user wants it now.
  Seconds interval() const { return session_.interval; }
  // Why no newer sample comes from where they come from; empty: they come. What is shown is then marked as old.
  void set_behind(std::string why, Monotonic now);
  bool is_behind() const { return !session_.behind.empty(); }
  // A message for the user, shown for a few seconds.
  void say(std::string text, Monotonic now, bool bad = false);

 private:
  void rest_on(int x, int y);
  void draw_message(const term::Area &area, const Look &look);

  Session session_;
  term::Screen screen_;
  std::vector<std::unique_ptr<Component>> stack_;  // the main page at the bottom
};

}  // namespace gpulse::tui

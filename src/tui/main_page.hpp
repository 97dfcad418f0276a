// SPDX-License-Identifier: Apache-2.0
// The page that is always at the bottom of the stack: header, panels, key bar. UI thread only.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "tui/component.hpp"

namespace gpulse::tui {

struct Hit;

class MainPage final : public Component {
 public:
  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;
  std::vector<KeyHint> key_bar() const override;

 private:
  static void handle_key(const term::KeyPress &key, Session &session);
  void handle_mouse(const term::MouseEvent &mouse, Session &session) const;
  void click(const term::MouseEvent &mouse, const Hit &hit, Session &session) const;
  void draw_waiting(const term::Area &area, const Look &look, const Session &session);
  void draw_key_bar(const term::Area &area, const Look &look, Session &session) const;

  bool time_ = false;                         // the keys of time come first, since the last drawing
  std::optional<Monotonic> waiting_since_{};  // for the first sample
};

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// The page of the machine's busiest processes that use no GPU: what competes with those that do. UI thread only.
#pragma once

#include "tui/component.hpp"

namespace gpulse::tui {

class HostProcessPage final : public Component {
 public:
  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;
  std::vector<KeyHint> key_bar() const override { return {{"P", "by CPU"}, {"M", "by memory"}, {"Esc", "closes"}}; }

 private:
  bool by_memory_ = false;
  std::size_t first_ = 0;
  std::size_t page_ = 1;  // rows seen, after drawing
};

void open_host_processes(Session &session);

}  // namespace gpulse::tui

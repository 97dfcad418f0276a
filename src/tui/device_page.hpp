// SPDX-License-Identifier: Apache-2.0
// The page of one GPU, or of an instance of one: what is wrong with it, its plots, and everything known of it to scroll
// through. `[` and `]` go to the next one. UI thread only.
#pragma once

#include "model/snapshot.hpp"
#include "tui/component.hpp"
#include "tui/text_page.hpp"

namespace gpulse::tui {

class DevicePage final : public Component {
 public:
  explicit DevicePage(const DeviceId &device) : device_(device) {}

  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;
  std::vector<KeyHint> key_bar() const override { return {{"[ ]", "other GPUs"}, {"Esc", "closes"}, {"?", "help"}}; }

 private:
  bool handle_key(const term::KeyPress &key, Session &session);
  void go(Session &session, int by);
  // Below the plots.
  TextLines text_of(const Device &device, const Look &look, const Session &session, int columns) const;

  DeviceId device_;
  TextScroll scroll_;
};

// Of the chosen device, else of the first.
void open_device_page(Session &session);

}  // namespace gpulse::tui

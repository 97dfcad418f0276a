// SPDX-License-Identifier: Apache-2.0
// Which panel gets which part of the screen. Pure: sizes in, rectangles out, for any size. Wishes for lines are
// fulfilled in an order that does not depend on the size, so that a screen with one more line never shows less.
#pragma once

#include <vector>

#include "term/screen.hpp"
#include "tui/settings.hpp"

namespace gpulse::tui {

struct PanelNeeds {
  int devices_compact = 1;  // lines with one per device, and with two; frames not counted
  int devices_full = 1;
  std::size_t device_count = 0;
  int host = 1;
  int processes = 1;  // lines of all processes, with the heading
  int events = 0;
  int findings = 0;
  std::size_t charts = 0;
};

struct PlacedPanel {
  Panel panel;
  term::Rect where;  // with the lines of its frame
  bool titled = false;
};

struct Layout {
  bool boxed = false;      // one frame around all panels; each has a title
  bool two_lines = false;  // per device
  term::Rect header{}, findings{}, footer{};
  std::vector<PlacedPanel> panels;
};

Layout lay_out(term::Size size, const Settings &settings, const PanelNeeds &needs);

}  // namespace gpulse::tui

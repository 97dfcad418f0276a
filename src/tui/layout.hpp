// SPDX-License-Identifier: Apache-2.0
// Which panel gets which part of the screen. Pure: sizes in, rectangles out, for any size.
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
  term::Rect where;
};

struct Layout {
  bool boxed = false;
  bool two_lines = false;  // per device
  term::Rect header{}, findings{}, footer{};
  std::vector<PlacedPanel> panels;
};

Layout lay_out(term::Size size, const Settings &settings, const PanelNeeds &needs);

}  // namespace gpulse::tui

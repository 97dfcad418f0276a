// SPDX-License-Identifier: Apache-2.0
#include "tui/screen_commands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "tui/plot_panel.hpp"
#include "tui/prompt.hpp"
#include "tui/session.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

void choose_device(Session &session, int by) {
  if (session.snapshot == nullptr || session.snapshot->devices.empty()) return;
  auto &cursor = session.devices;
  const auto devices = view::ordered_devices(*session.snapshot);
  const auto count = static_cast<int>(devices.size());
  const auto at = std::ranges::find_if(devices, [&](const Device *device) { return cursor.chosen == device->id; });
  const int place = at == devices.end() ? (by > 0 ? -1 : count) : static_cast<int>(at - devices.begin());
  const int wanted = place + by;
  if (wanted < 0 || wanted >= count) {
    cursor.chosen.reset();
  } else {
    cursor.chosen = devices[static_cast<std::size_t>(wanted)]->id;
  }
  cursor.scroll_to_chosen = true;
}

void scroll_devices(Session &session, const term::MouseEvent &wheel) {
  const auto seen = std::ranges::count(session.hits, Hit::Kind::device, &Hit::kind);
  scroll_by_wheel(session.devices.first, wheel, static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, seen)));
}

void toggle_plots_together(Session &session) {
  if (session.snapshot == nullptr) return;
  auto &settings = session.settings;
  settings.plot_mode = plots_together(*session.snapshot, settings) ? PlotMode::per_device : PlotMode::together;
}

void zoom_in(Session &session) { session.settings.zoom = std::max(1, session.settings.zoom / 2); }
void zoom_out(Session &session) { session.settings.zoom = std::min(Settings::kMostZoom, session.settings.zoom * 2); }

void next_theme(Session &session) {
  cycle(session.settings.theme);
  session.say(fmt::format("theme {}", word(session.settings.theme)));
}

void toggle_mouse(Session &session) {
  session.settings.mouse = !session.settings.mouse;
  session.say(session.settings.mouse ? "mouse on" : "mouse off: the terminal selects text");
}

void open_time_prompt(Session &session) {
  session.open(std::make_unique<Prompt>("go to time:", "", nullptr, [](Session &on, const std::string &text) {
    if (on.playback.go_to(text)) return;
    on.say(fmt::format("\"{}\" is no time: 14:03:20, -5m, 90s from the start, start, end", trim(text)), true);
  }));
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
#include "tui/screen_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.hpp"
#include "tui/plot_panel.hpp"
#include "tui/prompt.hpp"
#include "tui/session.hpp"
#include "tui/time_grid.hpp"

namespace gpulse::tui {

namespace {

void set_zoom(Session &session, int zoom) {
  session.settings.zoom = zoom;
  const TimeGrid grid(session.history.times(), 0, zoom);
  session.say(fmt::format("plots: {} a dot", span_text(grid.dot())));
}

}  // namespace

void toggle_plots_together(Session &session) {
  if (session.snapshot == nullptr) return;
  auto &settings = session.settings;
  settings.plot_mode = plots_together(*session.snapshot, settings) ? PlotMode::per_device : PlotMode::together;
}

void zoom_in(Session &session) { set_zoom(session, std::max(1, session.settings.zoom / 2)); }
void zoom_out(Session &session) { set_zoom(session, std::min(Settings::kMostZoom, session.settings.zoom * 2)); }

void next_plots(Session &session, int by) {
  if (session.snapshot == nullptr) return;
  if (plots_together(*session.snapshot, session.settings)) {
    return session.say("all GPUs are in each plot: m makes a plot per GPU");
  }
  auto &[first, seen] = session.plots;
  const auto count = plotted_devices(*session.snapshot, session.settings);
  if (seen >= count) return session.say("the plots of all GPUs are on the screen");
  first = by > 0 ? first + seen : (first > 0 ? first : count) - std::min(seen, first > 0 ? first : count);
  if (first >= count) first = 0;
}

void change_interval(Session &session, int by) {
  if (session.options.replay) return session.say("a recording has its own pace: --speed changes it");
  constexpr std::array kUsual{0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0};
  const double now = session.interval.count();
  const auto longer = std::ranges::upper_bound(kUsual, now);
  const auto shorter = std::ranges::lower_bound(kUsual, now);
  if (by > 0 && longer != kUsual.end()) session.interval = Seconds(*longer);
  if (by < 0 && shorter != kUsual.begin()) session.interval = Seconds(*std::prev(shorter));
  session.say(fmt::format("a sample every {:g} s", session.interval.count()));
}

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

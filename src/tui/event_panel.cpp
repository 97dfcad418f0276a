// SPDX-License-Identifier: Apache-2.0
#include "tui/event_panel.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"
#include "view/event_cells.hpp"

namespace gpulse::tui {

std::vector<term::Span> event_spans(const LoggedEvent &logged, const Snapshot &snapshot, const Look &look) {
  const auto &[event, times] = logged;
  const auto place = term::clean(view::event_place(snapshot, event), look.unicode());
  return {{local_time(event.time, "%H:%M:%S "), term::Colour::dim},
          {place.empty() ? "" : place + " ", term::Colour::plain},
          {term::clean(view::event_words(event), look.unicode()), view::event_colour(event)},
          {times > 1 ? fmt::format("  {} times", times) : "", term::Colour::dim}};
}

void draw_events(const term::Area &area, const DrawContext &context, const EventLog &log) {
  const auto &look = context.look;
  const auto inner = open_panel(area, look, "Events", log.empty() ? "" : "E all of them, and what to do");
  if (log.empty()) {
    inner.put(0, 0, "nothing happened yet", look.theme->dim);
    return;
  }
  for (int y = 0; y < inner.rows() && static_cast<std::size_t>(y) < log.size(); ++y) {
    const auto place = static_cast<std::size_t>(y);
    const auto &logged = log[log.size() - 1 - place];
    put_spans(inner, 0, y, event_spans(logged, context.snapshot, look), look, inner.columns());
    context.hits.push_back({inner.row(y).rect(), Hit::Kind::event, place});
  }
}

}  // namespace gpulse::tui

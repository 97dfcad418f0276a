// SPDX-License-Identifier: Apache-2.0
#include "tui/event_panel.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"
#include "view/event_cells.hpp"

namespace gpulse::tui {

namespace {

term::Colour colour_of(const Event &event) {
  switch (severity(event.kind)) {
    case Severity::note:
      break;
    case Severity::warning:
      return term::Colour::warn;
    case Severity::critical:
      return term::Colour::bad;
  }
  return term::Colour::accent;
}

}  // namespace

void draw_events(const term::Area &area, const DrawContext &context, const EventLog &log) {
  const auto &look = context.look;
  const auto inner = open_panel(area, look, "Events");
  if (log.empty()) {
    inner.put(0, 0, "nothing happened yet", look.theme->dim);
    return;
  }
  int y = 0;
  for (auto logged = log.rbegin(); logged != log.rend() && y < inner.rows(); ++logged, ++y) {
    const auto *event = &logged->event;
    const bool unicode = look.unicode();
    const auto place = term::clean(view::event_place(context.snapshot, *event), unicode);
    const bool numbered = event->code != 0 && event->kind == EventKind::xid;
    const auto kind = std::string(word(event->kind)) + (numbered ? fmt::format(" {}", event->code) : "");
    const auto text = event->text == word(event->kind) ? std::string() : term::clean(event->text, unicode);
    put_spans(inner, 0, y,
              {{local_time(event->time, "%H:%M:%S "), term::Colour::dim},
               {place.empty() ? "" : place + " ", term::Colour::plain},
               {kind, colour_of(*event)},
               {text.empty() ? "" : " " + text, term::Colour::plain},
               {logged->times > 1 ? fmt::format("  {} times", logged->times) : "", term::Colour::dim}},
              look, inner.columns());
  }
}

}  // namespace gpulse::tui

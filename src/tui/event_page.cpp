// SPDX-License-Identifier: Apache-2.0
#include "tui/event_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tui/event_panel.hpp"
#include "tui/session.hpp"
#include "tui/text_page.hpp"
#include "view/event_cells.hpp"

namespace gpulse::tui {

using term::Key;

bool EventPage::handle(const term::Input &input, Session &session) {
  const auto last = session.events.empty() ? 0 : session.events.size() - 1;
  const auto move = [&](std::ptrdiff_t by) {
    const auto wanted = static_cast<std::ptrdiff_t>(at_) + by;
    at_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(wanted, 0, static_cast<std::ptrdiff_t>(last)));
    return true;
  };
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input)) {
    if (mouse->action == term::MouseAction::wheel_up) return move(-1);
    if (mouse->action == term::MouseAction::wheel_down) return move(1);
    if (mouse->action != term::MouseAction::press) return true;
    for (const auto &hit : session.hits) {
      if (hit.kind != Hit::Kind::event || !hit.where.contains(mouse->x, mouse->y)) continue;
      open_event(session, at_ = hit.value);
      return true;
    }
    return false;
  }
  const auto *key = std::get_if<term::KeyPress>(&input);
  if (key == nullptr) return true;
  const auto page = static_cast<std::ptrdiff_t>(page_);
  if (key->key == Key::up || is_letter(*key, U'k')) return move(-1);
  if (key->key == Key::down || is_letter(*key, U'j')) return move(1);
  if (key->key == Key::page_up) return move(-page);
  if (key->key == Key::page_down) return move(page);
  if (key->key == Key::home) return move(-static_cast<std::ptrdiff_t>(last));
  if (key->key == Key::end) return move(static_cast<std::ptrdiff_t>(last));
  if (key->key != Key::enter) return false;
  open_event(session, at_);
  return true;
}

void EventPage::draw(const term::Area &area, const Look &look, Session &session) {
  session.hits.clear();
  const auto inner = open_page(area, look, "Events", key_note(key_bar()));
  const auto &log = session.events;
  page_ = static_cast<std::size_t>(std::max(1, inner.rows()));
  at_ = std::min(at_, log.empty() ? 0 : log.size() - 1);
  if (at_ < first_) first_ = at_;
  if (at_ >= first_ + page_) first_ = at_ - page_ + 1;
  if (log.empty()) {
    inner.put(0, 0, "nothing happened yet", look.theme->dim);
    return;
  }
  for (std::size_t i = 0; i < page_ && first_ + i < log.size(); ++i) {
    const auto place = first_ + i;
    const auto line = inner.part({0, static_cast<int>(i), beside_scrollbar(inner.columns(), page_, log.size()), 1});
    put_spans(line, 0, 0, event_spans(log[log.size() - 1 - place], *session.snapshot, look), look, line.columns());
    if (place == at_) line.highlight(look.theme->selected, look.theme->selected_attributes);
    session.hits.push_back({line.rect(), Hit::Kind::event, place});
  }
  draw_scrollbar(inner, look, first_, page_, log.size());
}

void open_events(Session &session) {
  if (session.snapshot != nullptr) session.open(std::make_unique<EventPage>());
}

void open_event(Session &session, std::size_t place) {
  constexpr int kFrame = 4, kLeast = 20;
  if (place >= session.events.size() || session.snapshot == nullptr) return;
  const auto &[event, times] = session.events[session.events.size() - 1 - place];
  const int columns = std::max(kLeast, session.size.columns - kFrame);
  const bool unicode = session.options.unicode;
  TextLines lines;
  const auto add = [&](std::string_view text, term::Colour colour) {
    for (auto &piece : term::wrap(term::clean(text, unicode), columns)) lines.push_back({{std::move(piece), colour}});
  };
  add(view::event_words(event), view::event_colour(event));
  for (const auto &paragraph : view::event_advice(event)) {
    lines.emplace_back();
    add(paragraph, term::Colour::plain);
  }
  if (times > 1) {
    lines.emplace_back();
    add(fmt::format("It came {} times within a minute of each other.", times), term::Colour::dim);
  }
  const auto where = term::clean(view::event_place(*session.snapshot, event), unicode);
  session.open(std::make_unique<TextPage>(
      fmt::format("{}{}{}", local_time(event.time, "%H:%M:%S"), where.empty() ? "" : "  ", where), std::move(lines)));
}

}  // namespace gpulse::tui

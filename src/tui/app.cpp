// SPDX-License-Identifier: Apache-2.0
#include "tui/app.hpp"

#include <algorithm>

#include "tui/labels.hpp"
#include "tui/main_page.hpp"

namespace gpulse::tui {

App::App(AppOptions options, feed::Timeline &timeline) : session_(std::move(options), timeline) {
  stack_.push_back(std::make_unique<MainPage>());
  session_.drawn = &screen_;
}

void App::resize(term::Size size) {
  screen_.resize(size);
  session_.size = screen_.size();
  session_.requests.draw = true;
}

void App::say(std::string text, Monotonic now, bool bad) {
  session_.now = now;
  session_.say(std::move(text), bad);
}

void App::set_behind(std::string why, Monotonic now) {
  session_.now = now;
  // Its age is shown in seconds.
  if (!why.empty() || is_behind()) session_.requests.draw = true;
  session_.behind = std::move(why);
}

void App::sample_came(Monotonic now) {
  session_.now = now;
  session_.sample_came();
}

void App::tick(Monotonic now) {
  session_.now = now;
  session_.tick();
}

std::optional<Monotonic> App::due() const {
  if (session_.playback.is_reaching_back()) return session_.now;
  auto next = session_.playback.due();
  if (session_.message) next = std::min(next.value_or(session_.message->until), session_.message->until);
  return next;
}

// A mouse sends dozens of these a second: the screen is drawn anew only where there is something else to say.
void App::rest_on(int x, int y) {
  auto words = label_words_at(screen_, theme(session_.settings.theme), x, y);
  if (words == session_.hint) return;
  session_.hint = std::move(words);
  session_.requests.draw = true;
}

void App::handle(const term::Input &input, Monotonic now) {
  session_.now = now;
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input);
      mouse != nullptr && mouse->action == term::MouseAction::move) {
    return rest_on(mouse->x, mouse->y);
  }
  session_.requests.draw = true;
  session_.hint.clear();
  if (const auto *key = std::get_if<term::KeyPress>(&input)) {
    if (is_control(*key, U'z')) {
      session_.requests.suspend = true;
      return;
    }
    if (is_control(*key, U'l')) {
      session_.requests.redraw = true;
      return;
    }
  }
  if (!stack_.back()->handle(input, session_)) stack_.pop_back();
  for (auto &component : session_.opened) stack_.push_back(std::move(component));
  session_.opened.clear();
  if (session_.playback.is_reaching_back()) session_.say("looking into the history");
}

const term::Screen &App::draw(Monotonic now) {
  session_.now = now;
  session_.requests.draw = false;
  session_.hits.clear();
  const auto look = make_look(session_);
  screen_.clear(look.theme->text);
  const term::Area area(screen_);
  if (area.empty()) return screen_;
  auto lowest = stack_.end() - 1;
  while ((*lowest)->place() != Place::screen) --lowest;
  for (auto component = lowest; component != stack_.end(); ++component) (*component)->draw(area, look, session_);
  if (stack_.back()->place() != Place::line) draw_message(area, look);
  return screen_;
}

// On the last line, or above the keys where they are there: those should be seen whatever happens.
void App::draw_message(const term::Area &area, const Look &look) {
  if (!session_.message && session_.hint.empty()) return;
  const int last = area.rows() - 1;
  const bool keys = std::ranges::any_of(
      session_.hits, [&](const Hit &hit) { return hit.kind == Hit::Kind::key && hit.where.y == last; });
  const auto line = area.row(keys ? last - 1 : last);
  // What is covered cannot be clicked on.
  std::erase_if(session_.hits, [&](const Hit &hit) { return hit.where.rows == 1 && hit.where.y == line.rect().y; });
  const auto &text = session_.message ? session_.message->text : session_.hint;
  line.fill(look.theme->text);
  line.put(0, 0, term::cut(term::clean(text, look.unicode()), line.columns(), look.style.ellipsis()),
           session_.message && session_.message->bad ? look.theme->bad : look.theme->accent);
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// Where an input goes: to the window that is open, else to the screen below.
#include <fmt/format.h>

#include <algorithm>

#include "tui/app.hpp"
#include "view/cell.hpp"

namespace gpulse::tui {

using term::Input;
using term::Key;
using term::KeyPress;
using term::MouseAction;
using term::MouseEvent;

namespace {

bool is_letter(const KeyPress &key, char32_t letter) {
  return key.key == Key::character && !key.ctrl && !key.alt && key.character == letter;
}

bool is_control(const KeyPress &key, char32_t letter) {
  return key.key == Key::character && key.ctrl && key.character == letter;
}

}  // namespace

void App::handle(const Input &input, Monotonic now) {
  changed_ = true;
  if (const auto *key = std::get_if<KeyPress>(&input)) {
    if (is_control(*key, U'z')) {
      suspend_ = true;
      return;
    }
    if (is_control(*key, U'l')) {
      redraw_ = true;
      return;
    }
  }
  if (question_) return handle_question(input, now);
  if (menu_) return handle_menu_input(input, now);
  if (prompt_) return handle_prompt_input(input, now);
  switch (view_) {
    case View::details:
      return handle_details(input, now);
    case View::text:
      return handle_text(input);
    case View::setup:
      return handle_setup(input, now);
    case View::main:
      break;
  }
  if (const auto *key = std::get_if<KeyPress>(&input)) handle_main_key(*key, now);
  if (const auto *mouse = std::get_if<MouseEvent>(&input)) handle_mouse(*mouse, now);
}

void App::handle_main_key(const KeyPress &key, Monotonic now) {
  if (std::exchange(chord_, false)) return sort_chord(key);
  // With nothing to interrupt, Ctrl-C is how people leave a program.
  if (is_control(key, U'c') && targets().empty()) {
    ended_ = true;
    return;
  }
  if (const auto action = action_for(key)) act(*action, now);
}

void App::handle_menu_input(const Input &input, Monotonic now) {
  switch (handle_menu(*menu_, input, hits_)) {
    case MenuAnswer::none:
      break;
    case MenuAnswer::chosen:
      return menu_chosen(now);
    case MenuAnswer::toggled:
    case MenuAnswer::moved:
      return menu_changed(now);
    case MenuAnswer::closed:
      menu_.reset();
      break;
  }
}

void App::handle_prompt_input(const Input &input, Monotonic now) {
  switch (handle_prompt(*prompt_, input)) {
    case PromptAnswer::none:
      break;
    case PromptAnswer::changed:
      return prompt_changed(now);
    case PromptAnswer::done:
      return prompt_done(now);
    case PromptAnswer::cancelled:
      prompt_->text = prompt_before_;
      prompt_changed(now);
      prompt_.reset();
      break;
  }
}

// The list follows every letter; what is not whole yet leaves it as it was.
void App::prompt_changed(Monotonic /*now*/) {
  if (prompt_for_ == PromptFor::time) return;
  auto query = Query::parse(prompt_->text);
  prompt_->trouble = query ? "" : query.error().line();
  if (!query) return;
  if (prompt_for_ == PromptFor::filter) {
    filter_ = std::move(*query);
    refresh();
    return;
  }
  search_ = std::move(*query);
  jump_to_match(true, true);
  refresh();
}

void App::prompt_done(Monotonic now) {
  const auto prompt = std::move(*prompt_);
  prompt_.reset();
  if (prompt_for_ == PromptFor::time) return go_to(prompt.text, now);
  if (!prompt.trouble.empty()) say(prompt.trouble, now, true);
  if (prompt_for_ == PromptFor::search && !search_.empty()) {
    const bool any = std::ranges::any_of(list_.rows, [&](const ListRow &row) {
      return row.kind == ListRow::Kind::process && search_.matches(*row.process);
    });
    if (!any) say("nothing matches " + search_.text(), now);
  }
}

void App::handle_question(const Input &input, Monotonic now) {
  bool yes = false;
  bool no = false;
  if (const auto *key = std::get_if<KeyPress>(&input)) {
    if (key->key == Key::left || key->key == Key::right || key->key == Key::tab) question_->yes = !question_->yes;
    yes = is_letter(*key, U'y') || is_letter(*key, U'Y') || (key->key == Key::enter && question_->yes);
    no = key->key == Key::escape || is_letter(*key, U'n') || is_letter(*key, U'N') || is_letter(*key, U'q') ||
         is_control(*key, U'c') || (key->key == Key::enter && !question_->yes);
  } else if (const auto *mouse = std::get_if<MouseEvent>(&input);
             mouse != nullptr && mouse->action == MouseAction::press) {
    for (const auto &hit : hits_) {
      if (hit.kind != Hit::Kind::item || !hit.where.contains(mouse->x, mouse->y)) continue;
      (hit.value == 1 ? yes : no) = true;
    }
  }
  if (yes) return send_signal(now);
  if (no) {
    question_.reset();
    say("no signal was sent", now);
  }
}

void App::handle_details(const Input &input, Monotonic now) {
  const auto *key = std::get_if<KeyPress>(&input);
  if (key == nullptr) {
    const auto *mouse = std::get_if<MouseEvent>(&input);
    if (mouse != nullptr && mouse->action == MouseAction::press) view_ = View::main;
    return;
  }
  if (key->key == Key::escape || key->key == Key::enter || is_letter(*key, U'q')) {
    view_ = View::main;
    return;
  }
  const auto action = action_for(*key);
  if (!action) return;
  // Up and down go through the processes; what can be done to one can be done here.
  if (act_move(*action)) {
    if (const auto *row = chosen_row(); row != nullptr && row->kind == ListRow::Kind::process) {
      detailed_ = key_of(*row->process);
    }
    return;
  }
  if (*action == Action::environment || *action == Action::help) view_ = View::main;
  const bool helps = *action == Action::help || *action == Action::redraw || *action == Action::theme;
  if (helps) {
    act_screen(*action, now);
  } else if (!act_process(*action, now) && !act_plots(*action)) {
    act_time(*action, now);
  }
}

void App::handle_text(const Input &input) {
  if (handle_text_view(text_, input)) return;
  view_ = View::main;
}

void App::handle_setup(const Input &input, Monotonic now) {
  if (const auto *key = std::get_if<KeyPress>(&input)) {
    const auto pages = setup_.size();
    if (key->key == Key::tab || key->key == Key::right || key->key == Key::left) {
      const bool back = key->key == Key::left || key->shift;
      setup_page_ = (setup_page_ + (back ? pages - 1 : 1)) % pages;
      return;
    }
    if (key->key == Key::f12 || is_letter(*key, U'W')) {
      save_ = true;
      return;
    }
    if (key->key == Key::f2 || is_letter(*key, U'S')) {
      view_ = View::main;
      return;
    }
  }
  if (const auto *mouse = std::get_if<MouseEvent>(&input); mouse != nullptr && mouse->action == MouseAction::press) {
    for (const auto &hit : hits_) {
      if (hit.kind != Hit::Kind::tab || !hit.where.contains(mouse->x, mouse->y)) continue;
      setup_page_ = hit.value;
      return;
    }
  }
  auto &menu = setup_[setup_page_];
  const auto answer = handle_menu(menu, input, hits_);
  if (answer == MenuAnswer::closed) view_ = View::main;
  if (answer == MenuAnswer::none || answer == MenuAnswer::closed) return;
  if (setup_page_ == 0) take_panels(menu);
  if (setup_page_ == 1 && !take_plots(menu)) say(fmt::format("at most {} at once", Settings::kMostPlots), now);
  if (setup_page_ == 2) take_columns(menu);
  if (setup_page_ == 3) {
    const auto at = menu.at;
    turn_look(at);
    menu = make_look_menu();
    menu.at = at;
  }
}

void App::handle_mouse(const MouseEvent &mouse, Monotonic now) {
  chord_ = false;
  if (mouse.action == MouseAction::wheel_up || mouse.action == MouseAction::wheel_down) return handle_wheel(mouse);
  if (mouse.action != MouseAction::press) return;
  // What was drawn last lies on top.
  for (auto hit = hits_.rbegin(); hit != hits_.rend(); ++hit) {
    if (!hit->where.contains(mouse.x, mouse.y)) continue;
    const auto found = *hit;
    return handle_click(mouse, found, now);
  }
}

void App::handle_click(const MouseEvent &mouse, const Hit &hit, Monotonic now) {
  switch (hit.kind) {
    case Hit::Kind::process: {
      const bool again = panel_.any_chosen && panel_.chosen == hit.value;
      choose_row(hit.value);
      if (mouse.button == 1) {
        act(Action::tag, now);
      } else if (mouse.button == 2) {
        act(Action::signal_menu, now);
      } else if (again) {
        act(Action::details, now);
      }
      return;
    }
    case Hit::Kind::device: {
      const auto index = static_cast<std::uint32_t>(hit.value);
      device_ = device_ == index ? std::nullopt : std::optional(index);
      return;
    }
    case Hit::Kind::column: {
      const auto columns = shown_columns(list_, settings_);
      if (hit.value < columns.size()) sort_by(columns[hit.value]);
      return;
    }
    case Hit::Kind::key:
      return act(static_cast<Action>(hit.value), now);
    case Hit::Kind::item:
    case Hit::Kind::tab:
    case Hit::Kind::panel:
      return;
  }
}

void App::handle_wheel(const MouseEvent &mouse) {
  const bool up = mouse.action == MouseAction::wheel_up;
  constexpr int kSideways = 8;
  constexpr std::size_t kLines = 3;
  Panel over = Panel::processes;
  for (const auto &hit : hits_) {
    if (hit.kind == Hit::Kind::panel && hit.where.contains(mouse.x, mouse.y)) over = static_cast<Panel>(hit.value);
  }
  if (mouse.shift) return scroll_commands(up ? -kSideways : kSideways);
  if (over == Panel::plots) {
    act_plots(up ? Action::zoom_in : Action::zoom_out);
    return;
  }
  const bool devices = over == Panel::devices;
  const auto page = devices ? std::ranges::count(hits_, Hit::Kind::device, &Hit::kind) : panel_.page;
  const auto lines = mouse.ctrl ? static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, page)) : kLines;
  auto &first = devices ? first_device_ : panel_.first;
  first = up ? first - std::min(first, lines) : first + lines;
}

}  // namespace gpulse::tui

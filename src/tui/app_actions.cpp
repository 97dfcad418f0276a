// SPDX-License-Identifier: Apache-2.0
// What the keys of the main screen do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "tui/app.hpp"
#include "tui/plot_panel.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

namespace {

template <class Enum>
void next(Enum &value, int count) {
  value = static_cast<Enum>((static_cast<int>(value) + 1) % count);
}

}  // namespace

void App::act(Action action, Monotonic now) {
  changed_ = true;
  if (act_move(action) || act_find(action, now) || act_list(action, now) || act_sort(action)) return;
  if (act_process(action, now) || act_panels(action) || act_plots(action) || act_time(action, now)) return;
  act_screen(action, now);
}

bool App::act_move(Action action) {
  const auto page = static_cast<std::size_t>(std::max(1, panel_.page));
  const auto at = panel_.chosen;
  const bool any = panel_.any_chosen;
  const auto go = [&](std::size_t row) {
    choose_row(any ? row : panel_.first);
    bring_into_sight_ = true;
    return true;
  };
  constexpr int kSideways = 4;
  switch (action) {
    case Action::up:
      return go(at > 0 ? at - 1 : 0);
    case Action::down:
      return go(at + 1);
    case Action::page_up:
      return go(at > page ? at - page : 0);
    case Action::page_down:
      return go(at + page);
    case Action::first:
      return choose_row(0), bring_into_sight_ = true;
    case Action::last:
      return choose_row(list_.rows.size()), bring_into_sight_ = true;
    case Action::scroll_left:
      return scroll_commands(-kSideways), true;
    case Action::scroll_right:
      return scroll_commands(kSideways), true;
    case Action::row_start:
      return panel_.shift = 0, true;
    case Action::row_end:
      return scroll_commands(100'000), true;
    default:
      return false;
  }
}

// No further than to the end of the longest command.
void App::scroll_commands(int by) {
  int longest = 0;
  for (const auto &row : list_.rows) {
    longest = std::max(longest, term::width(view::text_by_role(row.process->texts.get(), Role::command)));
  }
  constexpr int kStaysInSight = 20;
  panel_.shift = std::clamp(panel_.shift + by, 0, std::max(0, longest - kStaysInSight));
}

bool App::act_find(Action action, Monotonic now) {
  const auto ask = [&](PromptFor purpose, std::string question, const std::string &text) {
    prompt_ = Prompt{.question = std::move(question), .text = text, .at = text.size()};
    prompt_for_ = purpose;
    prompt_before_ = text;
    return true;
  };
  switch (action) {
    case Action::search:
      return ask(PromptFor::search, "search:", search_.text());
    case Action::filter:
      return ask(PromptFor::filter, "filter:", filter_.text());
    case Action::next_match:
      search_.empty() ? say("nothing is searched for: / starts a search", now) : jump_to_match(true, false);
      return true;
    case Action::previous_match:
      search_.empty() ? sort_by({ProcessColumn::Kind::pid}) : jump_to_match(false, false);
      return true;
    case Action::user:
      return open_user_menu(), true;
    case Action::clear:
      return clear(now), true;
    default:
      return false;
  }
}

void App::jump_to_match(bool forward, bool from_here) {
  const auto count = list_.rows.size();
  if (count == 0 || search_.empty()) return;
  const auto start = panel_.any_chosen ? panel_.chosen : 0;
  for (std::size_t i = from_here ? 0 : 1; i <= count; ++i) {
    const auto row = forward ? (start + i) % count : (start + count - i % count) % count;
    if (list_.rows[row].kind == ListRow::Kind::process && search_.matches(*list_.rows[row].process)) {
      choose_row(row);
      bring_into_sight_ = true;
      return;
    }
  }
}

// One thing at a time: search, then tags, then filter, then what is chosen.
void App::clear(Monotonic now) {
  if (!search_.empty()) {
    search_ = {};
  } else if (!panel_.tagged.empty()) {
    panel_.tagged.clear();
  } else if (!filter_.empty() || settings_.only != OnlyType::all) {
    filter_ = {};
    settings_.only = OnlyType::all;
  } else if (device_) {
    device_.reset();
  } else if (panel_.any_chosen) {
    chosen_.reset();
  } else {
    say("q quits", now);
  }
  refresh();
}

bool App::act_list(Action action, Monotonic now) {
  switch (action) {
    case Action::only_type:
      next(settings_.only, 3);
      break;
    case Action::totals:
      next(settings_.totals, 3);
      panel_.first = 0;
      break;
    case Action::tree:
      settings_.tree = !settings_.tree;
      settings_.totals = Totals::off;
      bring_into_sight_ = true;
      break;
    case Action::follow:
      if (!follow_ && chosen_row() == nullptr) return say("choose a process to follow first", now), true;
      follow_ = !follow_;
      bring_into_sight_ = true;
      break;
    case Action::tag:
      if (const auto *row = chosen_row(); row != nullptr && row->kind == ListRow::Kind::process) {
        const auto pid = row->process->pid;
        if (panel_.tagged.erase(pid) == 0) panel_.tagged.emplace(pid, row->process->start_ticks);
      }
      act_move(Action::down);
      break;
    case Action::untag:
      panel_.tagged.clear();
      break;
    default:
      return false;
  }
  refresh();
  return true;
}

void App::sort_by(const ProcessColumn &column) {
  const bool same = settings_.sort == column;
  settings_.descending = same ? !settings_.descending : descends(column);
  settings_.sort = column;
  bring_into_sight_ = true;
  refresh();
}

void App::sort_neighbour(int by) {
  const auto columns = shown_columns(list_, settings_);
  if (columns.empty()) return;
  const auto at = std::ranges::find(columns, settings_.sort);
  const auto count = static_cast<int>(columns.size());
  const int place = at == columns.end() ? (by > 0 ? -1 : 0) : static_cast<int>(at - columns.begin());
  settings_.sort = columns[static_cast<std::size_t>((place + by + count) % count)];
  settings_.descending = descends(settings_.sort);
  bring_into_sight_ = true;
  refresh();
}

void App::sort_chord(const term::KeyPress &key) {
  struct Chord {
    char32_t letter;
    std::optional<ProcessColumn> column;
  };
  const std::array chords{Chord{U'n', ProcessColumn{ProcessColumn::Kind::device}},
                          Chord{U'p', ProcessColumn{ProcessColumn::Kind::pid}},
                          Chord{U'u', column_of(Role::user)},
                          Chord{U'g', column_of(Role::memory_used)},
                          Chord{U's', column_of(Role::utilization)},
                          Chord{U'b', column_of(Role::memory_bandwidth)},
                          Chord{U'c', column_of(Role::cpu)},
                          Chord{U'm', column_of(Role::host_memory)},
                          Chord{U't', column_of(Role::age)}};
  const bool capital = key.character >= U'A' && key.character <= U'Z';
  const auto letter = capital ? key.character + 32 : key.character;
  const auto *const found = std::ranges::find(chords, letter, &Chord::letter);
  if (key.key != term::Key::character || found == chords.end() || !found->column) return;
  settings_.sort = *found->column;
  settings_.descending = descends(settings_.sort) != capital;
  bring_into_sight_ = true;
  refresh();
}

bool App::act_sort(Action action) {
  switch (action) {
    case Action::sort_menu:
      return open_sort_menu(), true;
    case Action::sort_previous:
      return sort_neighbour(-1), true;
    case Action::sort_next:
      return sort_neighbour(1), true;
    case Action::sort_ascending:
      settings_.descending = false;
      break;
    case Action::sort_descending:
      settings_.descending = true;
      break;
    case Action::sort_invert:
      settings_.descending = !settings_.descending;
      break;
    case Action::sort_memory:
    case Action::sort_cpu:
      if (const auto column = column_of(action == Action::sort_cpu ? Role::cpu : Role::memory_used)) sort_by(*column);
      return true;
    case Action::sort_chord:
      return chord_ = true;
    case Action::columns:
      return open_columns_menu(), true;
    default:
      return false;
  }
  refresh();
  return true;
}

bool App::act_process(Action action, Monotonic now) {
  switch (action) {
    case Action::signal_menu:
      targets().empty() ? say("choose a process first", now) : open_signal_menu();
      return true;
    case Action::interrupt:
      return ask_signal(SIGINT, now), true;
    case Action::terminate:
      return ask_signal(SIGTERM, now), true;
    case Action::kill:
      return ask_signal(SIGKILL, now), true;
    case Action::nicer:
      return renice(1, now), true;
    case Action::less_nice:
      return renice(-1, now), true;
    case Action::environment:
      return open_environment(now), true;
    case Action::details: {
      const auto *row = chosen_row();
      if (row == nullptr) return say("choose a process first", now), true;
      if (row->kind == ListRow::Kind::total) {
        // Whose total it is becomes the filter.
        const bool user = settings_.totals == Totals::user;
        const std::string who(view::text_by_role(row->process->texts.get(), user ? Role::user : Role::job));
        if (auto query = Query::parse((user ? "user:" : "job:") + who); query && !who.empty())
          filter_ = std::move(*query);
        settings_.totals = Totals::off;
        return refresh(), true;
      }
      if (row->kind == ListRow::Kind::parent) return say("this one does not use a GPU itself", now), true;
      detailed_ = key_of(*row->process);
      view_ = View::details;
      return true;
    }
    default:
      return false;
  }
}

bool App::act_panels(Action action) {
  constexpr std::array kToggles{Action::panel_devices, Action::panel_plots, Action::panel_processes, Action::panel_host,
                                Action::panel_events};
  const auto *const found = std::ranges::find(kToggles, action);
  if (found != kToggles.end()) {
    settings_.toggle(static_cast<Panel>(found - kToggles.begin()));
    return true;
  }
  switch (action) {
    case Action::next_device:
      return choose_device(1), true;
    case Action::previous_device:
      return choose_device(-1), true;
    case Action::layout_auto:
      return settings_.rows = DeviceRows::automatic, true;
    case Action::layout_full:
      return settings_.rows = DeviceRows::full, true;
    case Action::layout_compact:
      return settings_.rows = DeviceRows::compact, true;
    default:
      return false;
  }
}

void App::choose_device(int by) {
  if (current_ == nullptr || current_->devices.empty()) return;
  const auto devices = view::ordered_devices(*current_);
  const auto count = static_cast<int>(devices.size());
  const auto at = std::ranges::find_if(devices, [&](const Device *device) { return device_ == device->index; });
  const int place = at == devices.end() ? (by > 0 ? -1 : count) : static_cast<int>(at - devices.begin());
  const int wanted = place + by;
  // Beyond the last there is none chosen.
  if (wanted < 0 || wanted >= count) {
    device_.reset();
  } else {
    device_ = devices[static_cast<std::size_t>(wanted)]->index;
  }
  bring_device_into_sight_ = true;
}

bool App::act_plots(Action action) {
  switch (action) {
    case Action::plots_menu:
      return open_plots_menu(), true;
    case Action::plots_together:
      if (current_ != nullptr) {
        settings_.plot_mode = plots_together(*current_, settings_) ? PlotMode::per_device : PlotMode::together;
      }
      return true;
    case Action::zoom_in:
      return settings_.zoom = std::max(1, settings_.zoom / 2), true;
    case Action::zoom_out:
      return settings_.zoom = std::min(Settings::kMostZoom, settings_.zoom * 2), true;
    default:
      return false;
  }
}

bool App::act_screen(Action action, Monotonic now) {
  switch (action) {
    case Action::quit:
      return ended_ = true;
    case Action::help:
      text_ = make_help(screen_.size().columns);
      view_ = View::text;
      return true;
    case Action::setup:
      return open_setup(), true;
    case Action::redraw:
      return redraw_ = true;
    case Action::save:
      return save_ = true;
    case Action::theme:
      next(settings_.theme, static_cast<int>(kThemes.size()));
      say(fmt::format("theme {}", word(settings_.theme)), now);
      return true;
    case Action::mouse:
      settings_.mouse = !settings_.mouse;
      say(settings_.mouse ? "mouse on" : "mouse off: the terminal selects text", now);
      return true;
    default:
      return false;
  }
}

}  // namespace gpulse::tui

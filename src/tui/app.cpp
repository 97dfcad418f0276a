// SPDX-License-Identifier: Apache-2.0
#include "tui/app.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/select.hpp"
#include "view/cell.hpp"

namespace gpulse::tui {

App::App(AppOptions options, feed::Timeline &timeline)
    : options_(std::move(options)), timeline_(timeline), settings_(options_.settings) {
  if (auto filter = Query::parse(options_.filter)) filter_ = std::move(*filter);
  number_ = options_.start;
}

void App::resize(term::Size size) {
  screen_.resize(size);
  changed_ = true;
}

void App::say(std::string text, Monotonic now, bool bad) {
  constexpr auto kSeen = std::chrono::seconds(6);
  message_ = Message{std::move(text), bad, now + kSeen};
  changed_ = true;
}

bool App::in_the_past() const { return !options_.replay && !timeline_.empty() && number_ + 1 < timeline_.end(); }

void App::sample_came(Monotonic now) {
  if (timeline_.empty()) return;
  const auto newest = timeline_.end() - 1;
  if (playing_ || current_ == nullptr) {
    show(newest, now);
    return;
  }
  // What happens meanwhile is not missed.
  const auto before = newest > timeline_.first() ? timeline_.at(newest - 1) : Result<SnapshotPtr>(SnapshotPtr{});
  if (const auto fresh = timeline_.at(newest); fresh && before) note_events(log_, before->get(), **fresh);
  if (number_ < timeline_.first()) show(timeline_.first(), now);
  changed_ = true;
}

void App::show(std::uint64_t number, Monotonic now) {
  auto sample = timeline_.at(number);
  if (!sample) {
    say(sample.error().line(), now, true);
    return;
  }
  const auto before = current_;
  const bool next = before != nullptr && number == number_ + 1;
  const bool newest = number + 1 == timeline_.end();
  // The log of a live view goes on by itself; that of a recording is what has been played.
  if (options_.replay && !next) log_.clear();
  if (options_.replay || newest) {
    note_events(log_, next ? before.get() : (options_.replay || before == nullptr ? nullptr : before.get()), **sample);
  }
  number_ = number;
  current_ = std::move(*sample);
  if (!options_.devices.empty()) {
    auto part = select_devices(current_, options_.devices);
    trouble_ = part ? "" : part.error().line();
    if (part) current_ = std::move(*part);
  }
  refresh();
}

void App::refresh() {
  changed_ = true;
  if (current_ == nullptr) return;
  list_ = list_processes(*current_, settings_, filter_, options_.unicode);
  find_chosen();
  // A number that another process has now is not tagged any more.
  const auto gone = [&](const auto &tag) {
    return std::ranges::none_of(current_->processes, [&](const Process &process) {
      const bool same = tag.second == 0 || process.start_ticks == 0 || process.start_ticks == tag.second;
      return process.pid == tag.first && same;
    });
  };
  std::erase_if(panel_.tagged, gone);
  panel_.note = list_note();
}

// The line that was chosen stays so wherever its process has gone; when the process has ended, the line in its place.
void App::find_chosen() {
  if (!chosen_ || list_.rows.empty()) {
    panel_.any_chosen = false;
    if (list_.rows.empty()) chosen_.reset();
    return;
  }
  panel_.any_chosen = true;
  for (std::size_t i = 0; i < list_.rows.size(); ++i) {
    if (key_of(*list_.rows[i].process) == *chosen_) {
      panel_.chosen = i;
      return;
    }
  }
  choose_row(std::min(panel_.chosen, list_.rows.size() - 1));
}

void App::choose_row(std::size_t row) {
  if (list_.rows.empty()) return;
  panel_.chosen = std::min(row, list_.rows.size() - 1);
  panel_.any_chosen = true;
  chosen_ = key_of(*list_.rows[panel_.chosen].process);
  changed_ = true;
}

const ListRow *App::chosen_row() const {
  return panel_.any_chosen && panel_.chosen < list_.rows.size() ? &list_.rows[panel_.chosen] : nullptr;
}

std::string App::list_note() const {
  std::string note;
  const auto add = [&](const std::string &text) { note += (note.empty() ? "" : ", ") + text; };
  if (!panel_.tagged.empty()) add(fmt::format("{} tagged", panel_.tagged.size()));
  if (settings_.totals != Totals::off) add(fmt::format("totals per {}", word(settings_.totals)));
  if (settings_.tree && settings_.totals == Totals::off) add("tree");
  if (settings_.only != OnlyType::all) add(fmt::format("only {}", word(settings_.only)));
  if (!filter_.empty()) add("filter " + filter_.text());
  if (!search_.empty()) add("search " + search_.text());
  if (follow_) add("following");
  if (list_.hidden > 0) add(fmt::format("{} hidden", list_.hidden));
  return term::clean(note, options_.unicode);
}

void App::tick(Monotonic now) {
  if (message_ && now >= message_->until) {
    message_.reset();
    changed_ = true;
  }
  if (current_ == nullptr) {
    changed_ = true;  // the wait is shown in seconds
    if (options_.replay && !timeline_.empty()) {
      show(std::min(number_, timeline_.end() - 1), now);
      set_playing(playing_, now);
    }
    return;
  }
  if (!options_.replay || !playing_) return;
  // Late by more than a moment, it catches up by leaving none out; the screen shows the last.
  constexpr int kMostAtOnce = 64;
  for (int i = 0; i < kMostAtOnce && playing_ && now >= play_due_; ++i) {
    if (number_ + 1 >= timeline_.end()) {
      playing_ = false;
      changed_ = true;
      break;
    }
    show(number_ + 1, now);
    set_playing(true, play_due_);
  }
}

std::optional<Monotonic> App::due() const {
  std::optional<Monotonic> next;
  const auto sooner = [&](Monotonic time) { next = next ? std::min(*next, time) : time; };
  if (message_) sooner(message_->until);
  if (options_.replay && playing_ && current_ != nullptr) sooner(play_due_);
  return next;
}

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// What the view does to processes: signals, niceness; and what it asks them: their environment.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tui/app.hpp"
#include "view/cell.hpp"
#include "view/process_cells.hpp"

namespace gpulse::tui {

namespace {

std::string signal_name(int number) {
  const char *name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

std::string several(std::size_t count) { return fmt::format("{} process{}", count, count == 1 ? "" : "es"); }

}  // namespace

std::string App::process_words(const Process &process) const {
  const term::Style style{.unicode = options_.unicode};
  const auto user = view::process_text(process, Role::user, style);
  const auto command = view::command_cell(process, style);
  return fmt::format("{} {} {}", process.pid, user.empty() ? "?" : user, command.spans.front().text);
}

// Those that are tagged, each once; else the one that is chosen.
std::vector<const Process *> App::targets() const {
  std::vector<const Process *> found;
  if (current_ == nullptr) return found;
  for (const auto &[pid, start_ticks] : panel_.tagged) {
    const auto process = std::ranges::find(current_->processes, pid, &Process::pid);
    if (process != current_->processes.end()) found.push_back(&*process);
  }
  if (!panel_.tagged.empty()) return found;
  if (const auto *row = chosen_row(); row != nullptr && row->kind == ListRow::Kind::process) {
    found.push_back(row->process);
  }
  return found;
}

Result<ProcessHandle> App::hold(const Process &process) const {
  if (process.foreign) return failure("its number is of another namespace", "only there it can be reached");
  if (process.gone) return failure("it is gone");
  // What a journal keeps does not tell one process from a later one with its number.
  if (in_the_past() && process.start_ticks == 0) return failure("this is the past", "L goes back to now");
  return ProcessHandle::open(process.pid, process.start_ticks != 0 ? std::optional(process.start_ticks) : std::nullopt);
}

void App::ask_signal(int number, Monotonic now) {
  const auto wanted = targets();
  if (wanted.empty()) return say("choose a process first", now);
  if (!options_.no_actions.empty()) return say("no signal was sent: " + options_.no_actions, now, true);
  Question question{.signal = number, .targets = {}, .refused = {}};
  for (const auto *process : wanted) {
    // Held from here on: the answer is for this process and no other.
    auto handle = hold(*process);
    if (handle) {
      question.targets.push_back({std::move(*handle), process_words(*process)});
    } else {
      question.refused.push_back(fmt::format("{}: {}", process->pid, handle.error().line()));
    }
  }
  if (question.targets.empty()) return say("no signal was sent: " + question.refused.front(), now, true);
  question_ = std::move(question);
  changed_ = true;
}

void App::send_signal(Monotonic now) {
  if (!question_) return;
  const auto question = std::move(*question_);
  question_.reset();
  std::size_t sent = 0;
  std::string trouble = question.refused.empty() ? "" : question.refused.front();
  for (const auto &target : question.targets) {
    if (const auto done = target.handle.signal(question.signal); done) {
      ++sent;
    } else if (trouble.empty()) {
      trouble = fmt::format("{}: {}", target.handle.pid(), done.error().line());
    }
  }
  auto text = sent > 0 ? fmt::format("{} was sent to {}", signal_name(question.signal), several(sent))
                       : std::string("no signal was sent");
  if (!trouble.empty()) text += (sent > 0 ? "; " : ": ") + trouble;
  panel_.tagged.clear();
  refresh();
  say(std::move(text), now, !trouble.empty());
}

void App::renice(int by, Monotonic now) {
  const auto wanted = targets();
  if (wanted.empty()) return say("choose a process first", now);
  if (!options_.no_actions.empty()) return say("nothing was changed: " + options_.no_actions, now, true);
  std::string text;
  bool bad = false;
  for (const auto *process : wanted) {
    const auto handle = hold(*process);
    const auto nice = handle ? handle->nice() : Result<int>(std::unexpected(handle.error()));
    const auto done =
        nice ? handle->renice(std::clamp(*nice + by, -20, 19)) : Result<void>(std::unexpected(nice.error()));
    if (!text.empty()) text += "; ";
    text += done ? fmt::format("{} has nice {} now", process->pid, std::clamp(*nice + by, -20, 19))
                 : fmt::format("{}: {}", process->pid, done.error().line());
    bad = bad || !done;
  }
  say(std::move(text), now, bad);
}

void App::open_environment(Monotonic now) {
  const auto *row = chosen_row();
  if (row == nullptr || row->kind == ListRow::Kind::total) return say("choose a process first", now);
  if (options_.replay) return say("a recording holds no environment", now, true);
  const auto handle = hold(*row->process);
  const auto variables =
      handle ? handle->environment() : Result<std::vector<std::string>>(std::unexpected(handle.error()));
  if (!variables) return say(fmt::format("{}: {}", row->process->pid, variables.error().line()), now, true);
  text_ = TextView{.title = "Environment of " + process_words(*row->process)};
  auto sorted = *variables;
  std::ranges::sort(sorted);
  for (const auto &variable : sorted) {
    const auto clean = term::clean(variable, options_.unicode);
    const auto equal = std::min(clean.find('='), clean.size());
    text_.lines.push_back({{clean.substr(0, equal), term::Colour::accent}, {clean.substr(equal), term::Colour::plain}});
  }
  if (text_.lines.empty()) text_.lines.push_back({{"it has none", term::Colour::dim}});
  view_ = View::text;
  changed_ = true;
}

}  // namespace gpulse::tui

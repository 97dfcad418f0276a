// SPDX-License-Identifier: Apache-2.0
#include "tui/process_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>

#include "base/process_handle.hpp"
#include "tui/menu.hpp"
#include "tui/question.hpp"
#include "tui/session.hpp"
#include "tui/text_page.hpp"
#include "view/cell.hpp"
#include "view/process_cells.hpp"

namespace gpulse::tui {

namespace {

constexpr std::string_view kChooseFirst = "choose a process first";

// What a signal would be sent to, opened before the user is asked.
struct SignalTargets {
  struct Target {
    ProcessHandle handle;
    std::string text;  // "4711 ann python3 train.py"
  };
  int signal = 0;
  std::vector<Target> targets{};
  std::vector<std::string> refused{};
};

std::string signal_name(int number) {
  const char *name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

std::string count_processes(std::size_t count) { return fmt::format("{} process{}", count, count == 1 ? "" : "es"); }

std::string process_text(const Process &process, const Session &session) {
  const term::Style style{.unicode = session.options.unicode};
  const auto user = view::process_text(process, Role::user, style);
  const auto command = view::command_cell(process, style);
  return fmt::format("{} {} {}", process.pid, user.empty() ? "?" : user, command.spans.front().text);
}

Result<ProcessHandle> open_process(const Session &session, const Process &process) {
  if (process.foreign) return failure("its number is of another namespace", "only there it can be reached");
  if (process.gone) return failure("it is gone");
  // The journal does not keep start times, so that the PID may belong to another process by now.
  if (session.playback.in_the_past() && process.start_ticks == 0) {
    return failure("this is the past", "L goes back to now");
  }
  return ProcessHandle::open(process.pid, process.start_ticks != 0 ? std::optional(process.start_ticks) : std::nullopt);
}

std::vector<term::Span> question_lines(const SignalTargets &wanted) {
  constexpr std::size_t kMostLines = 8;
  std::vector<term::Span> lines;
  for (const auto &target : wanted.targets) {
    if (lines.size() == kMostLines) {
      lines.push_back({fmt::format("and {} more", wanted.targets.size() - kMostLines), term::Colour::dim});
      break;
    }
    lines.push_back({target.text, term::Colour::plain});
  }
  for (const auto &refused : wanted.refused) lines.push_back({"not " + refused, term::Colour::warn});
  return lines;
}

void send_signal(Session &session, const SignalTargets &wanted) {
  std::size_t sent = 0;
  std::string problem = wanted.refused.empty() ? "" : wanted.refused.front();
  for (const auto &target : wanted.targets) {
    if (const auto done = target.handle.signal(wanted.signal); done) {
      ++sent;
    } else if (problem.empty()) {
      problem = fmt::format("{}: {}", target.handle.pid(), done.error().line());
    }
  }
  auto text = sent > 0 ? fmt::format("{} was sent to {}", signal_name(wanted.signal), count_processes(sent))
                       : std::string("no signal was sent");
  if (!problem.empty()) text += (sent > 0 ? "; " : ": ") + problem;
  session.processes.tagged.clear();
  session.refresh();
  session.say(std::move(text), !problem.empty());
}

TextLines environment_lines(std::vector<std::string> variables, bool unicode) {
  std::ranges::sort(variables);
  TextLines lines;
  for (const auto &variable : variables) {
    const auto clean = term::clean(variable, unicode);
    const auto equal = std::min(clean.find('='), clean.size());
    lines.push_back({{clean.substr(0, equal), term::Colour::accent}, {clean.substr(equal), term::Colour::plain}});
  }
  if (lines.empty()) lines.push_back({{"it has none", term::Colour::dim}});
  return lines;
}

}  // namespace

std::vector<const Process *> target_processes(const Session &session) {
  std::vector<const Process *> found;
  if (session.snapshot == nullptr) return found;
  const auto &processes = session.snapshot->processes;
  for (const auto &[pid, start_ticks] : session.processes.tagged) {
    const auto process = std::ranges::find(processes, pid, &Process::pid);
    if (process != processes.end()) found.push_back(&*process);
  }
  if (!session.processes.tagged.empty()) return found;
  if (const auto *process = session.processes.chosen_process()) found.push_back(process);
  return found;
}

void open_signal_menu(Session &session) {
  if (target_processes(session).empty()) return session.say(std::string(kChooseFirst));
  Menu menu{.title = "Send signal", .items = {}};
  for (int number = 1; number < 32; ++number) {
    const char *name = ::sigabbrev_np(number);
    const char *text = ::sigdescr_np(number);
    if (number == SIGTERM) menu.at = menu.items.size();
    menu.items.push_back(
        {fmt::format("{:>2} SIG{}", number, name != nullptr ? name : "?"), text != nullptr ? text : ""});
  }
  session.open(std::make_unique<MenuDialogue>(
      std::move(menu), [](Session &on, const Menu &chosen) { ask_signal(on, static_cast<int>(chosen.at) + 1); }));
}

void ask_signal(Session &session, int number) {
  const auto processes = target_processes(session);
  if (processes.empty()) return session.say(std::string(kChooseFirst));
  if (!session.options.no_actions.empty()) {
    return session.say("no signal was sent: " + session.options.no_actions, true);
  }
  auto wanted = std::make_shared<SignalTargets>();
  wanted->signal = number;
  for (const auto *process : processes) {
    // Opened now, so that the answer is for this process even if its PID is reused meanwhile.
    auto handle = open_process(session, *process);
    if (handle) {
      wanted->targets.push_back({std::move(*handle), process_text(*process, session)});
    } else {
      wanted->refused.push_back(fmt::format("{}: {}", process->pid, handle.error().line()));
    }
  }
  if (wanted->targets.empty()) return session.say("no signal was sent: " + wanted->refused.front(), true);
  const char *name = ::sigabbrev_np(number);
  auto title = fmt::format("Send SIG{} to {}?", name != nullptr ? name : "?", count_processes(wanted->targets.size()));
  auto lines = question_lines(*wanted);
  session.open(std::make_unique<Question>(std::move(title), std::move(lines), [wanted](Session &on, bool yes) {
    yes ? send_signal(on, *wanted) : on.say("no signal was sent");
  }));
}

void renice(Session &session, int by) {
  const auto processes = target_processes(session);
  if (processes.empty()) return session.say(std::string(kChooseFirst));
  if (!session.options.no_actions.empty()) {
    return session.say("nothing was changed: " + session.options.no_actions, true);
  }
  std::string text;
  bool bad = false;
  for (const auto *process : processes) {
    const auto handle = open_process(session, *process);
    const auto nice = handle ? handle->nice() : Result<int>(std::unexpected(handle.error()));
    const auto done =
        nice ? handle->renice(std::clamp(*nice + by, -20, 19)) : Result<void>(std::unexpected(nice.error()));
    if (!text.empty()) text += "; ";
    text += done ? fmt::format("{} has nice {} now", process->pid, std::clamp(*nice + by, -20, 19))
                 : fmt::format("{}: {}", process->pid, done.error().line());
    bad = bad || !done;
  }
  session.say(std::move(text), bad);
}

void open_environment(Session &session) {
  const auto *row = session.processes.chosen_line();
  if (row == nullptr || row->kind == ListRow::Kind::total) return session.say(std::string(kChooseFirst));
  if (session.options.replay) return session.say("a recording holds no environment", true);
  if (session.options.elsewhere) return session.say("an engine does not have the environment of processes", true);
  const auto handle = open_process(session, *row->process);
  const auto variables =
      handle ? handle->environment() : Result<std::vector<std::string>>(std::unexpected(handle.error()));
  if (!variables) return session.say(fmt::format("{}: {}", row->process->pid, variables.error().line()), true);
  session.open(std::make_unique<TextPage>("Environment of " + process_text(*row->process, session),
                                          environment_lines(*variables, session.options.unicode)));
}

}  // namespace gpulse::tui

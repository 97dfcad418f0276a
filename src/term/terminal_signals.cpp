// SPDX-License-Identifier: Apache-2.0
#include "term/terminal_signals.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>

namespace gpulse::term {

namespace {

// Ends a frame that was cut off, then undoes enter() in reverse order.
constexpr std::string_view kLeave =
    "\033[?2026l\033[?1006l\033[?1003l\033[?1002l\033[?1000l\033[?2004l\033[?7h\033[m\033[?25h\033[?1049l";
constexpr int kLongestLeaveMs = 1000;

constexpr std::array kEnding{SIGTERM, SIGHUP, SIGINT, SIGQUIT};
constexpr std::array kNotice{SIGTSTP, SIGCONT, SIGWINCH};
constexpr std::array kCrash{SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};

struct Replaced {
  int number = 0;
  bool replaced = false;
  struct sigaction before{};
};
std::array<Replaced, kEnding.size() + kNotice.size() + kCrash.size()> replaced_actions;
std::terminate_handler terminate_before = nullptr;
// A handler for stack overflow cannot run on the stack that has overflowed.
alignas(16) std::array<char, 65'536> spare_stack;
bool spare_stack_used = false;

void write_bounded(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    pollfd ready{fd, POLLOUT, 0};
    if (errno != EAGAIN || ::poll(&ready, 1, kLongestLeaveMs) <= 0) return;
  }
}

bool in_foreground(int fd) {
  const auto group = ::tcgetpgrp(fd);
  return group < 0 || group == ::getpgrp();
}

void on_notice(int number) {
  const int error = errno;
  auto &signals = terminal_signals();
  if (number == SIGWINCH) {
    signals.resized = true;
  } else if (number == SIGTSTP) {
    signals.suspend = true;
  } else if (number == SIGCONT) {
    signals.continued = true;
  } else {
    signals.stop = true;
  }
  wake_terminal();
  errno = error;
}

const Replaced *replaced_action(int number) {
  for (const auto &entry : replaced_actions) {
    if (entry.number == number && entry.replaced) return &entry;
  }
  return nullptr;
}

// Ends as without our handler: with the previous one, or the default with its exit status and core dump.
void on_crash(int number, siginfo_t *info, void *context) {
  leave_terminal();
  const auto *entry = replaced_action(number);
  struct sigaction before{};
  if (entry != nullptr) before = entry->before;
  const bool with_info = (before.sa_flags & SA_SIGINFO) != 0;
  const bool has_handler = with_info || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
  if (!has_handler) before.sa_handler = SIG_DFL;
  ::sigaction(number, &before, nullptr);
  if (has_handler) {
    with_info ? before.sa_sigaction(number, info, context) : before.sa_handler(number);
  } else if (info == nullptr || info->si_code <= 0) {
    ::raise(number);  // sent by another process: returning would not raise it again
  }
}

// Otherwise the message would go to the alternate screen, which is about to vanish.
void on_terminate() {
  leave_terminal();
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

void install(Replaced &entry, int number, bool crash) {
  entry = {.number = number};
  struct sigaction action{};
  sigemptyset(&action.sa_mask);
  if (crash) {
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  } else {
    action.sa_handler = on_notice;
  }
  ::sigaction(number, nullptr, &entry.before);
  // A signal that was ignored when we were started, as with nohup, stays ignored.
  const bool ignored = (entry.before.sa_flags & SA_SIGINFO) == 0 && entry.before.sa_handler == SIG_IGN;
  if (ignored && !crash && number != SIGWINCH && number != SIGCONT) return;
  entry.replaced = ::sigaction(number, &action, nullptr) == 0;
}

void lend_spare_stack() {
  stack_t present{};
  if (::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
  stack_t spare{};
  spare.ss_sp = spare_stack.data();
  spare.ss_size = spare_stack.size();
  spare_stack_used = ::sigaltstack(&spare, nullptr) == 0;
}

}  // namespace

TerminalSignals &terminal_signals() {
  static constinit TerminalSignals signals;
  return signals;
}

void leave_terminal() {
  auto &signals = terminal_signals();
  if (!signals.entered.exchange(false)) return;
  // In the background the modes belong to the shell, and setting them would stop us.
  sigset_t output_stop, before;
  sigemptyset(&output_stop);
  sigaddset(&output_stop, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &output_stop, &before);
  write_bounded(signals.output, kLeave);
  if (signals.errors >= 0) ::dup2(signals.errors, STDERR_FILENO);
  if (in_foreground(signals.input)) {
    ::tcflush(signals.input, TCIFLUSH);  // mouse reports still on their way
    ::tcsetattr(signals.input, TCSANOW, &signals.found);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void wake_terminal() {
  const std::uint64_t one = 1;
  (void)!::write(terminal_signals().wake, &one, sizeof one);
}

void install_handlers() {
  std::size_t at = 0;
  lend_spare_stack();
  for (const int number : kEnding) install(replaced_actions[at++], number, false);
  for (const int number : kNotice) install(replaced_actions[at++], number, false);
  for (const int number : kCrash) install(replaced_actions[at++], number, true);
  terminate_before = std::set_terminate(on_terminate);
}

void remove_handlers() {
  std::set_terminate(terminate_before);
  for (auto &entry : replaced_actions) {
    if (entry.replaced) ::sigaction(entry.number, &entry.before, nullptr);
    entry.replaced = false;
  }
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  if (spare_stack_used) ::sigaltstack(&none, nullptr);
  spare_stack_used = false;
}

void stop_here(bool whole_group) {
  struct sigaction before{}, action{};
  sigemptyset(&action.sa_mask);
  if (whole_group) {
    // The others first: a signal to the whole group could reach us too late.
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGTSTP, &action, &before);
    ::kill(0, SIGTSTP);
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGTSTP, &action, nullptr);
  } else {
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGTSTP, &action, &before);
  }
  ::raise(SIGTSTP);  // has no effect where no shell could continue us
  ::sigaction(SIGTSTP, &before, nullptr);
}

}  // namespace gpulse::term

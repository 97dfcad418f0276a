// SPDX-License-Identifier: Apache-2.0
// What signal handlers need to know about the terminal, and the handlers. One per process, as signals are. Called by
// Terminal.
#pragma once

#include <signal.h>
#include <termios.h>

#include <atomic>
#include <string_view>

namespace gpulse::term {

// Shared with the handlers, which run on any thread at any time.
struct TerminalSignals {
  std::atomic<bool> entered = false;  // the terminal has to be restored
  std::atomic<bool> stop = false, resized = false, suspend = false, continued = false, woken = false;
  int input = -1, output = -1, wake = -1;
  int errors = -1;        // standard error as it was found; -1: it is no terminal, and left alone
  int errors_aside = -1;  // what takes its place meanwhile
  termios found{};        // modes to restore
};
TerminalSignals &terminal_signals();

// Restores the terminal, once. Async-signal-safe; does not block for ever on a terminal that takes no more bytes.
void leave_terminal();
// Ends the wait; async-signal-safe.
void wake_terminal();

void install_handlers();
void remove_handlers();

// Stops the process group as Ctrl-Z does, or only this process; returns when it is continued.
void stop_here(bool whole_group);

}  // namespace gpulse::term

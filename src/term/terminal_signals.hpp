// SPDX-License-Identifier: Apache-2.0
// What a signal handler needs to know of the terminal, and the handlers. One per process: signals are.
#pragma once

#include <signal.h>
#include <termios.h>

#include <atomic>
#include <string_view>

namespace gpulse::term {

// Shared with handlers, which run on any thread at any moment.
struct TerminalSignals {
  std::atomic<bool> entered = false;  // the terminal is not as we found it
  std::atomic<bool> stop = false, resized = false, suspend = false, continued = false, woken = false;
  int input = -1, output = -1, wake = -1;
  termios found{};  // the modes to put back
};
TerminalSignals &terminal_signals();

// Puts the terminal back as it was, once; async-signal-safe, and bounded where the terminal takes no more bytes.
void leave_terminal();
// Ends the wait; async-signal-safe.
void wake_terminal();

void install_handlers();
void remove_handlers();

// Stops this process group as Ctrl-Z does, or this process alone; returns when it goes on.
void stop_here(bool whole_group);

}  // namespace gpulse::term

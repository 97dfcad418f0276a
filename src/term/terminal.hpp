// SPDX-License-Identifier: Apache-2.0
// The terminal of a full-screen program: raw keys, the alternate screen, mouse reports. It is restored at the end, on a
// signal, on Ctrl-Z, and when the program crashes. What libraries write to standard error meanwhile would break the
// screen: it is kept, and shown at the end. One per process; used by the loop of the live view, on its thread.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "term/input.hpp"
#include "term/screen.hpp"

namespace gpulse::term {

class Terminal {
 public:
  struct Options {
    bool mouse = true;
  };
  // Fails unless both standard input and output are terminals.
  static Result<std::unique_ptr<Terminal>> open(const Options &options);
  // Whether the last one was asked to stop, as Events::stop tells.
  static bool was_stopped();
  Terminal(const Terminal &) = delete;
  Terminal &operator=(const Terminal &) = delete;
  ~Terminal();

  Size size() const;

  struct Events {
    std::vector<Input> inputs;
    bool resized = false;  // or the screen was lost: after Ctrl-Z and fg, or a tmux attach
    bool stop = false;     // SIGINT from outside, SIGTERM, SIGHUP, or the terminal is gone
    bool woken = false;    // by wake()
  };
  // Returns as soon as there is something to report.
  Events wait(std::chrono::milliseconds at_most);
  // Ends a wait. Any thread; also from a signal handler.
  void wake();

  // Writes all of it, or fails: the terminal may be gone.
  Result<void> write(std::string_view bytes);
  // Restores the terminal and stops the program, as Ctrl-Z does; returns when it is continued.
  void suspend();
  void set_mouse(bool on);

 private:
  struct State;
  explicit Terminal(std::unique_ptr<State> state);
  Result<void> show();
  void come_back();
  void stop_and_return(bool whole_group);
  std::unique_ptr<State> state_;
};

}  // namespace gpulse::term

// SPDX-License-Identifier: Apache-2.0
// The terminal behind standard input and output while a program has the whole screen: raw keys, another screen, mouse
// reports; put back as it was at the end, on a signal, on Ctrl-Z, and when the program crashes. There is one per
// process.
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
  // Fails where one of the two is no terminal.
  static Result<std::unique_ptr<Terminal>> open(const Options &options);
  Terminal(const Terminal &) = delete;
  Terminal &operator=(const Terminal &) = delete;
  ~Terminal();

  Size size() const;

  struct Happened {
    std::vector<Input> inputs;
    bool resized = false;  // or the terminal may show anything now: after Ctrl-Z and fg, a tmux attach
    bool stop = false;     // SIGINT from outside, SIGTERM, SIGHUP, or the terminal is gone
    bool woken = false;    // by wake()
  };
  // Waits for any of these, at most so long.
  Happened wait(std::chrono::milliseconds at_most);
  // Ends a wait; any thread, also a signal handler.
  void wake();

  // All of it, or an error; a terminal that is gone is one.
  Result<void> write(std::string_view bytes);
  // As Ctrl-Z does: the screen is given back, the program stopped; returns when it goes on.
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

// SPDX-License-Identifier: Apache-2.0
// How far something is that takes longer than two seconds: a line that counts on a terminal, one word elsewhere. One
// thread.
#pragma once

#include <functional>
#include <string>

#include "base/clock.hpp"

namespace gpulse::cli {

class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  // Takes the line off the terminal.
  ~ProgressLine();

  // `done`: from 0 to 1.
  void tell_share(double done);
  // For those who want a function; it may not outlive the line.
  std::function<void(double)> teller() {
    return [this](double done) { tell_share(done); };
  }

 private:
  std::string what_;
  bool is_terminal_;
  bool is_told_ = false;
  Monotonic next_;
};

}  // namespace gpulse::cli

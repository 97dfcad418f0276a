// SPDX-License-Identifier: Apache-2.0
// How far something is that takes longer than two seconds: a line that counts on a terminal, one line elsewhere. Told
// by one thread, written by another of its own, so that it is said even if nobody tells it anything.
#pragma once

#include <functional>
#include <memory>
#include <string>

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
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace gpulse::cli

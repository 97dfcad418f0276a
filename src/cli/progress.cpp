// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kPatience = 2s, kBetween = 100ms;

}  // namespace

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), is_terminal_(::isatty(STDERR_FILENO) == 1), next_(monotonic_now() + kPatience) {}

ProgressLine::~ProgressLine() {
  if (is_told_ && is_terminal_) tell("\r\x1b[K");
}

void ProgressLine::tell_share(double done) {
  const auto now = monotonic_now();
  if (now < next_) return;
  if (is_terminal_) {
    tell(fmt::format("\r{} … {:.0f} %\x1b[K", what_, done * 100));
  } else if (!is_told_) {
    complain(what_ + " …");
  }
  is_told_ = true;
  next_ = now + kBetween;
}

}  // namespace gpulse::cli

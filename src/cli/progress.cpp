// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/output.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

}  // namespace

struct ProgressLine::Watch {
  std::string what;
  std::atomic<double> share{-1};  // below 0: not told yet
  std::mutex mutex;
  std::condition_variable_any ended;
  std::jthread thread;

  void run(const std::stop_token &stop) {
    const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
    std::chrono::milliseconds pause = 2s;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); }) && !stop.stop_requested()) {
      if (!is_terminal) return complain(what + " …");
      const double done = share;
      tell(fmt::format("\r{} …{}\x1b[K", what, done < 0 ? "" : fmt::format(" {:.0f} %", done * 100)));
      pause = 100ms;
    }
    if (is_terminal && pause < 2s) tell("\r\x1b[K");
  }
};

ProgressLine::ProgressLine(std::string what) : watch_(std::make_unique<Watch>()) {
  watch_->what = std::move(what);
  watch_->thread = std::jthread([watch = watch_.get()](const std::stop_token &stop) { watch->run(stop); });
}

ProgressLine::~ProgressLine() = default;

void ProgressLine::tell_share(double done) { watch_->share = done; }

}  // namespace gpulse::cli

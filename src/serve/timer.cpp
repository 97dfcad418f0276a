// SPDX-License-Identifier: Apache-2.0
#include "serve/timer.hpp"

#include <atomic>
#include <exception>
#include <utility>

#include "base/log.hpp"

namespace gpulse::serve {

void Timer::call_at(Monotonic time, std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    calls_.emplace(time, std::move(call));
  }
  changed_.notify_one();
}

void Timer::run(const std::stop_token &stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (calls_.empty()) {
      changed_.wait(lock, stop, [this] { return !calls_.empty(); });
      continue;
    }
    const auto first = calls_.begin()->first;
    if (monotonic_now() < first) {
      changed_.wait_until(lock, stop, first, [&] { return calls_.empty() || calls_.begin()->first < first; });
      continue;
    }
    const auto call = std::move(calls_.begin()->second);
    calls_.erase(calls_.begin());
    lock.unlock();
    try {
      call();
    } catch (const std::exception &fault) {
      log_line(LogLevel::error, std::string("a timer failed: ") + fault.what());
    }
    lock.lock();
  }
}

http::Answer in_time(Timer &timer, Monotonic deadline, const http::Answer &answer,
                     std::function<http::Response()> late) {
  const auto is_given = std::make_shared<std::atomic<bool>>(false);
  auto once = [is_given, answer](http::Response response) {
    if (!is_given->exchange(true)) answer(std::move(response));
  };
  timer.call_at(deadline, [is_given, once, late = std::move(late)] {
    if (!*is_given) once(late());
  });
  return once;
}

}  // namespace gpulse::serve

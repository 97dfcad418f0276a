// SPDX-License-Identifier: Apache-2.0
// A stop that comes when time is up, or with another one. One thread; the stop may come on any.
#pragma once

#include <functional>
#include <stop_token>

#include "serve/timer.hpp"

namespace gpulse::serve {

class Deadline {
 public:
  // The timer may outlive it.
  Deadline(Timer &timer, std::chrono::nanoseconds limit, const std::stop_token &other)
      : until_(monotonic_now() + limit), with_other_(other, [this] { source_.request_stop(); }) {
    timer.call_at(until_, [source = source_]() mutable { source.request_stop(); });
  }
  Deadline(const Deadline &) = delete;
  Deadline &operator=(const Deadline &) = delete;
  ~Deadline() = default;

  std::stop_token token() const { return source_.get_token(); }
  bool is_over() const { return monotonic_now() >= until_; }

 private:
  std::stop_source source_;
  const Monotonic until_;
  std::stop_callback<std::function<void()>> with_other_;
};

}  // namespace gpulse::serve

// SPDX-License-Identifier: Apache-2.0
// Calls at a time, on a thread of its own; and answers that come in time, whoever they wait for. Any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/clock.hpp"
#include "http/message.hpp"

namespace gpulse::serve {

class Timer {
 public:
  Timer() = default;
  Timer(const Timer &) = delete;
  Timer &operator=(const Timer &) = delete;
  // What is not due by then is not called.
  ~Timer() = default;

  // Must be quick.
  void call_at(Monotonic time, std::function<void()> call);

 private:
  void run(const std::stop_token &stop);

  std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::multimap<Monotonic, std::function<void()>> calls_;
  std::jthread thread_{[this](const std::stop_token &stop) { run(stop); }};  // the first to end: it uses the rest
};

// One that is given by then goes out, and only the first; else what `late` makes.
http::Answer in_time(Timer &timer, Monotonic deadline, const http::Answer &answer,
                     std::function<http::Response()> late);

}  // namespace gpulse::serve

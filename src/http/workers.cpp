// SPDX-License-Identifier: Apache-2.0
#include "http/workers.hpp"

#include <exception>
#include <system_error>
#include <utility>

#include "base/log.hpp"

namespace gpulse::http {

bool Workers::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(work));
    if (waiting_.size() > idle_ && threads_.size() < most_threads_ && !start_thread() && threads_.empty()) {
      waiting_.pop_back();
      return false;
    }
  }
  changed_.notify_one();
  return true;
}

// With the mutex held. False: the system has none left; those that are there do the work.
bool Workers::start_thread() {
  try {
    threads_.emplace_back([this](const std::stop_token &stop) { run(stop); });
    return true;
  } catch (const std::system_error &fault) {
    log_line(LogLevel::error, std::string("no thread could be started: ") + fault.what());
    return false;
  }
}

void Workers::stop() {
  std::vector<std::jthread> threads;
  std::deque<std::function<void()>> dropped;  // what it holds may come back here when it goes
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
    threads.swap(threads_);
  }
  for (auto &thread : threads) thread.request_stop();
}

void Workers::run(const std::stop_token &stop) {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      ++idle_;
      const bool more = changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
      --idle_;
      if (!more || stop.stop_requested()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      work();
    } catch (const std::exception &fault) {
      log_line(LogLevel::error, std::string("a request failed: ") + fault.what());
    }
  }
}

}  // namespace gpulse::http

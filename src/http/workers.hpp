// SPDX-License-Identifier: Apache-2.0
// A few threads for work that would hold up the thread it comes from. They are started when there is something to do
// for them; what has not begun when it ends is not done. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace gpulse::http {

class Workers {
 public:
  explicit Workers(std::size_t most_threads, std::size_t most_waiting = 256)
      : most_threads_(most_threads), most_waiting_(most_waiting) {}
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;
  // Waits for what has begun.
  ~Workers() { stop(); }

  // False: too much is waiting already, no thread could be started, or it has been stopped.
  bool post(std::function<void()> work);
  void stop();

 private:
  bool start_thread();
  void run(const std::stop_token &stop);

  const std::size_t most_threads_, most_waiting_;
  std::mutex mutex_;  // guards these
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace gpulse::http

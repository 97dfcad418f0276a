// SPDX-License-Identifier: Apache-2.0
// Writes what the history keeps to an engine that speaks Prometheus' remote write, on a thread of its own: the history
// is the queue, and a small file beside it says how far the engine has it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "fleet/position.hpp"
#include "fleet/replay.hpp"
#include "http/client.hpp"

namespace gpulse::fleet {

struct RemoteWriteOptions {
  http::Url url{};
  http::ClientOptions client{};
  std::string history{};  // the file
  ReplayOptions replay{};
  std::optional<std::chrono::nanoseconds> since{};  // an engine that has nothing yet gets so much of the past
};

// How it is going, for any thread, also before the writer is there.
class WriteNumbers {
 public:
  void set(const view::AgentNumbers::RemoteWrite &numbers) {
    const std::lock_guard lock(mutex_);
    numbers_ = numbers;
  }
  view::AgentNumbers::RemoteWrite get() const {
    const std::lock_guard lock(mutex_);
    return numbers_;
  }

 private:
  mutable std::mutex mutex_;
  view::AgentNumbers::RemoteWrite numbers_;
};

class RemoteWriter {
 public:
  RemoteWriter(RemoteWriteOptions options, std::shared_ptr<WriteNumbers> numbers);

 private:
  void work(const std::stop_token &stop);

  const RemoteWriteOptions options_;
  const std::shared_ptr<WriteNumbers> numbers_;
  std::jthread thread_;  // the last to be made and the first to end
};

}  // namespace gpulse::fleet

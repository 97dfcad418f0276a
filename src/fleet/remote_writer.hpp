// SPDX-License-Identifier: Apache-2.0
// Writes what the history keeps to an engine that speaks Prometheus' remote write, on a thread of its own: the history
// is the queue, and a small file beside it says how far the engine has it.
#pragma once

#include <chrono>
#include <functional>
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
  // Told how it is going, on the writer's thread.
  std::function<void(const view::AgentNumbers::RemoteWrite &)> tell{};
};

class RemoteWriter {
 public:
  explicit RemoteWriter(RemoteWriteOptions options);
  RemoteWriter(const RemoteWriter &) = delete;
  RemoteWriter &operator=(const RemoteWriter &) = delete;
  ~RemoteWriter() = default;

 private:
  void work(const std::stop_token &stop);

  const RemoteWriteOptions options_;
  std::jthread thread_;  // the last to be made and the first to end
};

}  // namespace gpulse::fleet

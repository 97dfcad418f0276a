// SPDX-License-Identifier: Apache-2.0
// A reader's connection to the agent. One thread; each call waits for its answer, and gives up after a while.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "share/message.hpp"
#include "share/place.hpp"

namespace gpulse::share {

class Connection {
 public:
  static Result<Connection> open(const Place &place);

  // The interval that the agent samples at from now on, as long as the connection lives. May be longer than asked for.
  Result<std::chrono::nanoseconds> want(std::chrono::nanoseconds interval, const MetricSet *focus);
  Result<DetailsAnswer> details(const MetricSet &set);
  Result<AgentStatus> status();
  // What fires, and who is told of it.
  Result<AlertsAnswer> alerts();
  Result<void> silence(const SilenceRequest &request);
  // Lets go of the drivers for this long.
  Result<void> release(std::chrono::nanoseconds time);
  // Takes them up again.
  Result<void> resume();

 private:
  explicit Connection(UniqueFd socket) : socket_(std::move(socket)) {}
  template <class Answer>
  Result<Answer> ask(std::span<const std::byte> request, MessageKind answer);
  Result<Frame> exchange(std::span<const std::byte> request);

  UniqueFd socket_;
  std::vector<std::byte> answer_;
};

}  // namespace gpulse::share

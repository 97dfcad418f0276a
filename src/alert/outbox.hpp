// SPDX-License-Identifier: Apache-2.0
// What receivers still have to be told, in order: alerts of one rule that come within a few seconds go into one
// message. Bounded: where a receiver is away for too long or too much comes, the oldest is given up. Pure but for the
// keys of new messages; whoever has it sees to it that one thread at a time uses it.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alert/alert.hpp"

namespace gpulse::alert {

inline constexpr std::size_t kMostMessages = 500, kMostAlertsOfMessage = 64;

struct Waiting {
  Message message{};
  std::vector<Text> receivers{};  // that do not have it yet
  WallTime since{};               // by the clock as it is set now
  bool is_kept = false;           // it would outlast the agent, as far as it can

  bool operator==(const Waiting &) const = default;
};

// Which receivers are to be told of it.
using Audience = std::function<std::vector<Text>(const Message &message)>;

class Outbox {
 public:
  // Alerts that have begun or are over.
  void add(std::span<const Alert> changes, const std::string &host, WallTime now);
  // Closes groups that began so long ago. True: there are new messages.
  bool close(WallTime now, std::chrono::nanoseconds group, const Audience &audience);
  void put(Message message, std::vector<Text> receivers);

  // The oldest that this receiver has to be told of and that is kept; null: there is none.
  const Waiting *next(const Text &receiver) const;
  void done(const Text &receiver, const Text &key);
  std::size_t waiting(const Text &receiver) const;
  bool is_waiting(const Text &receiver, const Text &alert) const;
  // Of receivers that are not there any more.
  std::size_t drop_others(std::span<const Text> receivers);
  // The clock was set.
  void shift(std::chrono::nanoseconds by);
  // All that is there now is in the file.
  void set_kept();
  // Messages that had to be given up because there were too many.
  std::uint64_t take_overflow() { return std::exchange(overflow_, 0); }

  std::vector<Message> groups{};  // still open
  std::deque<Waiting> messages{};

 private:
  void bound();
  std::uint64_t overflow_ = 0;
};

}  // namespace gpulse::alert

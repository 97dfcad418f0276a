// SPDX-License-Identifier: Apache-2.0
// One host of a fleet as somebody looks at it: asked for again and again, and answered for as its own agent would
// answer. Any thread.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "fleet/host_asker.hpp"
#include "insight/watch.hpp"
#include "serve/api.hpp"
#include "serve/board.hpp"
#include "serve/shared_asks.hpp"
#include "serve/timer.hpp"

namespace gpulse::serve {

struct WatchedHostOptions {
  std::string version{};
  fleet::EngineOptions engine{};
  fleet::FleetHost host{};
  std::chrono::nanoseconds interval = std::chrono::seconds(15);
  std::chrono::nanoseconds patience = std::chrono::seconds(3);  // of one who comes before there is anything to show
};

class WatchedHost {
 public:
  // Both outlive it.
  WatchedHost(WatchedHostOptions options, SharedAsks<http::Response> &asks, Timer &timer);
  WatchedHost(const WatchedHost &) = delete;
  WatchedHost &operator=(const WatchedHost &) = delete;
  // Within a tenth of a second, also while the engine hangs.
  ~WatchedHost() = default;

  // A path as an agent has it.
  void handle(const http::Request &request, bool sees_commands, const http::Answer &answer);
  // When somebody last asked for anything; now, while somebody follows.
  Monotonic used();
  bool has_followers() { return api_.followers() > 0; }
  // Otherwise what has its instance now is another one: of another cluster, or with another exporter.
  bool is_still_among(std::span<const fleet::FleetHost> hosts) const;

 private:
  struct Waiting {
    http::Request request;
    bool sees_commands = false;
    http::Answer answer;
  };

  http::Response about(const http::Request &request);
  // Why there is nothing newer; empty: there is. With the mutex held.
  Text trouble() const;
  void handle_now(const http::Request &request, bool sees_commands, const http::Answer &answer);
  void run(const std::stop_token &stop);
  void ask(fleet::HostAsker &asker, const std::stop_token &stop);
  // How far apart its samples are.
  std::chrono::nanoseconds pace_at(fleet::HostAsker &asker, WallTime taken, WallTime at, const std::stop_token &stop);
  void post(const fleet::HostSample &sample, WallTime at, const std::stop_token &stop);
  void learn_since(std::vector<insight::LastingFinding> &findings, const Snapshot &sample, WallTime at,
                   const std::stop_token &stop);
  void settle(Text trouble);

  const WatchedHostOptions options_;
  const Monotonic begun_ = monotonic_now();
  Board board_;
  Api api_;
  // Of the thread alone
  WallTime newest_{};
  std::chrono::nanoseconds pace_{0};
  std::vector<insight::LastingFinding> lasting_;
  std::uint64_t last_number_ = 0;

  std::mutex mutex_;  // guards these
  bool is_settled_ = false;
  Text trouble_;
  Monotonic used_ = monotonic_now();
  std::vector<Waiting> waiting_;
  Timer &timer_;
  std::jthread thread_;  // the last to be made and the first to end: it uses the rest
};

}  // namespace gpulse::serve

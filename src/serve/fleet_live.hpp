// SPDX-License-Identifier: Apache-2.0
// The fleet as it is now, for all who look: asked for again and again while somebody does, and let be when nobody has
// for a while. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "fleet/fleet_watch.hpp"
#include "http/workers.hpp"
#include "serve/timer.hpp"

namespace gpulse::serve {

struct FleetLiveOptions {
  fleet::EngineOptions engine{};
  std::chrono::nanoseconds interval = std::chrono::seconds(15);
  std::chrono::nanoseconds rests_after = std::chrono::minutes(2);
  std::chrono::nanoseconds patience = std::chrono::seconds(3);  // of one who comes when there is nothing new yet
};

class FleetLive {
 public:
  using Ready = std::function<void(const fleet::FleetNews &)>;

  explicit FleetLive(FleetLiveOptions options) : options_(std::move(options)) {}
  FleetLive(const FleetLive &) = delete;
  FleetLive &operator=(const FleetLive &) = delete;
  ~FleetLive();

  // Calls back at once where there is something new, else when there is, or when patience is at its end.
  void look(Ready ready);
  // Without asking for anything; none: nobody has looked for a while.
  std::optional<fleet::FleetNews> peek() const;

 private:
  void changed();
  void tell_all();

  const FleetLiveOptions options_;
  mutable std::mutex mutex_;  // guards what follows, down to the threads
  bool is_resting_ = true;
  bool is_settled_ = false;  // there has been an answer, or a trouble, since it last woke
  Monotonic woken_{}, looked_{};
  std::vector<Ready> waiting_;
  std::unique_ptr<fleet::FleetWatch> watch_;  // null: nobody has looked yet
  http::Workers tellers_{1};
  Timer timer_;
};

}  // namespace gpulse::serve

// SPDX-License-Identifier: Apache-2.0
// Asks an engine for a fleet again and again, on a thread of its own, so that nobody who shows it ever waits for the
// engine. Any thread may call it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "fleet/fleet_asker.hpp"

namespace gpulse::fleet {

// What is known at the moment.
struct FleetNews {
  FleetPtr fleet{};              // the newest answer; null: there has been none for this moment yet
  Text trouble{};                // why there is nothing newer; empty: all is well
  Text hint{};                   // what to do about that
  std::optional<WallTime> at{};  // the moment of the past that is asked for; none: now
  bool is_asking = false;
  Monotonic asking_since{};  // while it is asked
};

struct FleetWatchOptions {
  EngineOptions engine{};
  std::chrono::nanoseconds interval = std::chrono::seconds(15);
  // Called on the thread that asks whenever there is something new, and when a question begins; must be quick.
  std::function<void()> changed{};
};

class FleetWatch {
 public:
  explicit FleetWatch(FleetWatchOptions options);
  FleetWatch(const FleetWatch &) = delete;
  FleetWatch &operator=(const FleetWatch &) = delete;
  // Within a tenth of a second, also while the engine hangs.
  ~FleetWatch();

  FleetNews news() const;
  // As it was at that moment, once; none: as it is, from now on. What was known of another moment is let go of.
  void look_at(std::optional<WallTime> moment);
  void set_interval(std::chrono::nanoseconds interval);
  Text place() const { return place_; }

 private:
  void run(const std::stop_token &stop);
  EngineResult<FleetPtr> ask(const std::stop_token &stop, std::optional<WallTime> moment);
  void ask_and_tell(const std::stop_token &stop, std::optional<WallTime> moment, std::uint64_t turn);

  const FleetWatchOptions options_;
  FleetAsker asker_;  // of the thread alone
  const Text place_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  FleetNews news_;
  std::chrono::nanoseconds interval_;
  std::uint64_t turn_ = 0;     // counts the moments that were asked for
  std::stop_source question_;  // of the one that is being asked

  std::jthread thread_;  // the last to be made and the first to end: it uses the rest
};

}  // namespace gpulse::fleet

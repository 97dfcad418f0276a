// SPDX-License-Identifier: Apache-2.0
// What the agent has to show at the moment, for those who answer over HTTP. The agent's thread posts and never waits
// for a reader; any thread reads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "insight/tally.hpp"
#include "insight/watch.hpp"
#include "model/snapshot.hpp"
#include "view/agent_numbers.hpp"

namespace gpulse::serve {

class Board {
 public:
  // Called on the thread that posts, after each sample; must be quick.
  using Listener = std::function<void(const SnapshotPtr &)>;

  // Before the first sample is posted.
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  // `interval`: the next one is to come so much later.
  void post(const SnapshotPtr &sample, std::chrono::nanoseconds interval = std::chrono::seconds(1)) {
    {
      const std::lock_guard lock(mutex_);
      latest_ = sample;
      ++samples_;
      pace_ = {.last = monotonic_now(), .interval = interval};
    }
    // After the sample itself: who sees the count sees what was counted.
    tally_.add(*sample, interval);
    for (const auto &listener : listeners_) listener(sample);
  }
  void post(std::vector<insight::LastingFinding> findings) {
    tally_.set_findings(findings);
    const std::lock_guard lock(mutex_);
    findings_ = std::move(findings);
  }
  void post(view::AgentNumbers numbers) {
    const std::lock_guard lock(mutex_);
    numbers_ = std::move(numbers);
  }
  // By whoever writes to an engine.
  void post(const view::AgentNumbers::RemoteWrite &numbers) {
    const std::lock_guard lock(mutex_);
    remote_write_ = numbers;
  }

  // When samples come.
  struct Pace {
    std::optional<Monotonic> last{};  // none: there is none yet
    std::chrono::nanoseconds interval{0};
  };
  Pace pace() const {
    const std::lock_guard lock(mutex_);
    return pace_;
  }
  // Null: there is none yet.
  SnapshotPtr latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }
  // How many there have been.
  std::uint64_t samples() const {
    const std::lock_guard lock(mutex_);
    return samples_;
  }
  // Those that last, the worst first.
  std::vector<insight::LastingFinding> findings() const {
    const std::lock_guard lock(mutex_);
    return findings_;
  }
  // What has happened since the agent started.
  const insight::Tally &tally() const { return tally_; }
  // How the agent itself is doing.
  view::AgentNumbers numbers() const {
    const std::lock_guard lock(mutex_);
    auto numbers = numbers_;
    numbers.remote_write = remote_write_;
    return numbers;
  }

 private:
  insight::Tally tally_;
  mutable std::mutex mutex_;
  std::vector<Listener> listeners_;  // never changed while samples are posted
  SnapshotPtr latest_;
  std::uint64_t samples_ = 0;
  Pace pace_;
  std::vector<insight::LastingFinding> findings_;
  view::AgentNumbers numbers_;
  std::optional<view::AgentNumbers::RemoteWrite> remote_write_;  // none: nothing is written to an engine
};

}  // namespace gpulse::serve

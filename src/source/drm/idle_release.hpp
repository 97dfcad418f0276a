// SPDX-License-Identifier: Apache-2.0
// Reading a card keeps it awake: the kernel lets it sleep some seconds after it was last asked. One that could sleep
// and has no work is therefore left alone for a while. If it is still awake then, somebody else holds it, and it is not
// left alone again for some time. All functions may be called from any thread.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "source/api/source.hpp"
#include "source/drm/card.hpp"

namespace gpulse::drm {

class IdleRelease {
 public:
  // Zero: never.
  explicit IdleRelease(std::chrono::nanoseconds after) : after_(after) {}

  // Before a sample, with the readings of the last one: whether to leave the card alone.
  bool wanted(const Sysroot &root, const Card &card, const Frame &last, Monotonic now);
  // Whether a rest has come to its end.
  bool over(const Sysroot &root, std::span<const Card> cards, Monotonic now);

 private:
  struct State {
    Monotonic busy_at{};
    Monotonic not_before{};
    std::optional<Monotonic> since;
  };

  std::chrono::nanoseconds after_;
  std::mutex mutex_;
  std::map<std::string, State> states_;  // by the card's name
};

}  // namespace gpulse::drm

// SPDX-License-Identifier: Apache-2.0
// The cards of one source that are released while they have no work (idle_release.hpp). All functions may be called
// from any thread.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "source/api/idle_release.hpp"
#include "source/api/source.hpp"
#include "source/drm/card.hpp"

namespace gpulse::drm {

class IdleCards {
 public:
  // As IdleRelease.
  explicit IdleCards(std::chrono::nanoseconds idle_for) : idle_for_(idle_for) {}

  // Before each sample, with the readings of the last one: whether the card is not to be read.
  bool try_release(const Sysroot &root, const Card &card, const Frame &last, Monotonic now);
  // Takes back the cards whose time is over; true when there was one.
  bool try_take_back(const Sysroot &root, std::span<const Card> cards, Monotonic now);

 private:
  std::chrono::nanoseconds idle_for_;
  std::mutex mutex_;
  std::map<std::string, IdleRelease> releases_;  // by the card's name; kept across discoveries
};

}  // namespace gpulse::drm

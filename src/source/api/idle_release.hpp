// SPDX-License-Identifier: Apache-2.0
// Reading a device keeps it awake: the kernel suspends it some ten seconds after its last user has gone. A device that
// may sleep and has no work is therefore released for a while, that is, not read at all. If it is still awake
// afterwards, somebody else holds it: it is read again, and kept for some time.
//
// Sources own one for whatever they can release, a device or a session with a driver. No lock, no clock of its own.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.hpp"

namespace gpulse {

class IdleRelease {
 public:
  static constexpr auto kReleasedFor = std::chrono::seconds(20);
  static constexpr auto kKeptFor = std::chrono::minutes(10);

  // `idle_for`: how long without work until it is released; zero: never.
  explicit IdleRelease(std::chrono::nanoseconds idle_for) : idle_for_(idle_for) {}

  bool is_released() const { return released_at_.has_value(); }
  void note_work(Monotonic at) { last_work_ = std::max(last_work_, at); }

  // Releases it when it has been idle for long enough and `may_sleep()`, which is not asked before. True when it is
  // released, now or since an earlier call.
  bool try_release(Monotonic now, const auto &may_sleep) {
    if (is_released()) return true;
    if (idle_for_.count() == 0 || now < kept_until_ || now - last_work_ < idle_for_ || !may_sleep()) return false;
    released_at_ = now;
    return true;
  }

  // Takes it back when its time is over; true when it was. `is_asleep()`: whether releasing it has helped.
  bool try_take_back(Monotonic now, const auto &is_asleep) {
    if (!is_released() || now - *released_at_ < kReleasedFor) return false;
    released_at_.reset();
    if (!is_asleep()) kept_until_ = now + kKeptFor;
    return true;
  }

  // Takes it back at once.
  void take_back() { released_at_.reset(); }

 private:
  std::chrono::nanoseconds idle_for_;
  Monotonic last_work_{};
  Monotonic kept_until_{};
  std::optional<Monotonic> released_at_;
};

}  // namespace gpulse

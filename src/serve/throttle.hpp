// SPDX-License-Identifier: Apache-2.0
// Makes guessing slow: every wrong attempt gives the address it came from a place in a queue, and the places come
// further and further apart. What is right waits for its turn too, so that the time says nothing. Bounded; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace gpulse::serve {

class Throttle {
 public:
  // How long the answer to an attempt has to wait; none: so many wait already that this one is not looked at.
  std::optional<std::chrono::milliseconds> turn(std::string_view address, Monotonic now) const;

  struct Failure {
    std::chrono::milliseconds delay{0};
    bool is_first = false;  // of this address, as far as is remembered
  };
  Failure failed(std::string_view address, Monotonic now);

  // Who is forgotten by now because nothing came for long, and how often each was wrong.
  std::map<std::string, std::uint64_t> forget(Monotonic now);
  std::size_t remembered() const;

 private:
  struct Entry {
    std::uint64_t failures = 0;
    Monotonic free{};  // when the last place in the queue is over
    Monotonic last{};
  };
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace gpulse::serve

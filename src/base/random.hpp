// SPDX-License-Identifier: Apache-2.0
// Bits that nobody can guess, from the kernel. std::random_device would ask glibc 2.36 for them, and bind programs to
// it.
#pragma once

#include <sys/random.h>

#include <cstdint>

#include "base/clock.hpp"

namespace gpulse {

inline std::uint32_t random_bits() {
  std::uint32_t bits = 0;
  if (::getrandom(&bits, sizeof bits, GRND_NONBLOCK) == sizeof bits) return bits;
  // Only while the machine starts: then the clock has to do.
  return static_cast<std::uint32_t>(monotonic_now().time_since_epoch().count());
}

}  // namespace gpulse

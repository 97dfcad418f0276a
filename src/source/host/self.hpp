// SPDX-License-Identifier: Apache-2.0
// What gpulse itself costs the machine it runs on, also when it shows a recorded one.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.hpp"
#include "base/kept_file.hpp"
#include "model/row.hpp"

namespace gpulse::host {

// The previous reading, kept by the caller.
struct SelfUse {
  std::optional<Monotonic> at;
  std::chrono::microseconds cpu{0};
  KeptFile memory{};
};

// Fills CPU use since the previous call and resident memory; a call less than 20 ms later changes nothing.
void read_self(Row &self, SelfUse &before, Monotonic now);

}  // namespace gpulse::host

// SPDX-License-Identifier: Apache-2.0
// What gpulse itself costs the machine it runs on; never of a recorded one.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.hpp"
#include "base/kept_file.hpp"
#include "model/row.hpp"

namespace gpulse::host {

// The reading before, kept by the caller.
struct SelfUse {
  std::optional<Monotonic> at;
  std::chrono::microseconds cpu{0};
  KeptFile memory{};
};

// Fills processor use since the call before and resident memory; calls closer than 20 ms leave the row as it is.
void read_self(Row &self, SelfUse &before, Monotonic now);

}  // namespace gpulse::host

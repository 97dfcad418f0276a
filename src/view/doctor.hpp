// SPDX-License-Identifier: Apache-2.0
// Why a device is not seen, which readings are missing and what would give them, what gpulse itself costs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "term/style.hpp"

namespace gpulse::view {

// One call to a driver or the kernel, as the sampler has measured it.
struct ReaderCost {
  std::string call;
  std::string tier;     // how often it is made: "tick", "second", "slow", "once"
  double mean_us = 0;   // microseconds per call
  bool slowed = false;  // turned out dear and is made less often than meant
};

// Who reads the devices in place of this program.
struct AgentNote {
  std::string folder;
  std::uint64_t pid = 0;
  double interval_seconds = 0, age_seconds = 0;  // between samples; of this one
};

std::string render_doctor(const Snapshot &snapshot, std::span<const ReaderCost> costs, const term::Style &style,
                          const std::optional<AgentNote> &agent = {});

}  // namespace gpulse::view

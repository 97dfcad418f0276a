// SPDX-License-Identifier: Apache-2.0
// Why a device is not seen, which readings are missing and what would give them, what gpulse itself costs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metric/set.hpp"
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

struct DoctorOptions {
  term::Style style = {};
  std::optional<AgentNote> agent = {};
  // What each source can read at all, by its name. A reading that only another vendor's devices have is not missing
  // here. A source that is not in it may be able to read anything.
  std::map<std::string, MetricSet> readable = {};
};

// A verdict in one sentence and what to do first, then everything that it rests on.
std::string render_doctor(const Snapshot &snapshot, std::span<const ReaderCost> costs, const DoctorOptions &options);

}  // namespace gpulse::view

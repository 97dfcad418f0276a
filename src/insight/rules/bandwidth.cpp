// SPDX-License-Identifier: Apache-2.0
// The GPU's processors are at work and wait for its memory.
#include <fmt/format.h>

#include <algorithm>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

Judgement memory_bandwidth(const DeviceSignals &signals, const Thresholds &limits) {
  if (!signals.has_compute_job()) return std::nullopt;
  // The controller's share counts time, not bytes: a fair guess only where it is high.
  const bool guess = !signals.dram.has_value();
  const auto busy = guess ? signals.controller : signals.dram;
  if (!busy || signals.busy_percent().value_or(0) < limits.working_sm_percent) return std::nullopt;
  const bool saturated = *busy >= (guess ? limits.controller_percent : limits.dram_percent);
  const double pipes = std::max({signals.tensor.value_or(0), signals.fp64.value_or(0), signals.fp32.value_or(0),
                                 signals.fp16.value_or(0)});  // the integer units work out addresses
  // Accesses all over the memory are slow long before its bandwidth is used up.
  const bool scattered = !guess && *busy >= limits.dram_waiting_percent && signals.tensor && signals.fp32 &&
                         signals.sm.value_or(0) >= limits.working_sm_percent && pipes < limits.idle_pipe_percent;
  if (!saturated && !scattered) return std::nullopt;
  constexpr double kFar = 20;
  auto finding = finding_of(
      FindingId::memory_bandwidth, Weight::note, signals,
      saturated ? sureness(*busy, guess ? limits.controller_percent : limits.dram_percent, kFar)
                : sureness(pipes, limits.idle_pipe_percent, limits.idle_pipe_percent),
      saturated
          ? fmt::format("The GPU's memory is the limit: it is busy {} of the time, and 80 to 90 % is all it can do",
                        percent_words(*busy))
          : fmt::format("The GPU's processors wait for its memory: they compute {} of the time, and the memory is "
                        "busy {} with accesses that lie apart",
                        percent_words(pipes), percent_words(*busy)));
  add_evidence(finding, {{"dram_active_percent", signals.dram},
                         {"memory_utilization_percent", signals.controller},
                         {"sm_active_percent", signals.sm},
                         {"tensor_active_percent", signals.tensor},
                         {"fp32_active_percent", signals.fp32},
                         {"integer_active_percent", signals.integer}});
  add_advice(finding, context_of(signals));
  return finding;
}

}  // namespace gpulse::insight::rules

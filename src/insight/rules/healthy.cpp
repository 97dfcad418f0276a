// SPDX-License-Identifier: Apache-2.0
// The GPU computes and nothing speaks against it; or nobody can tell what it does.
#include <fmt/format.h>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

Judgement healthy(const DeviceSignals &signals, const Thresholds &limits) {
  if (!signals.tells_work() || signals.jobs.empty()) return std::nullopt;
  const double waits = 1 - *signals.busy_percent() / 100;
  if (waits >= limits.starved_lost_share || signals.fill().value_or(1) < limits.small_fill) return std::nullopt;
  constexpr double kFar = 40;
  auto finding =
      finding_of(FindingId::healthy, Weight::ok, signals, sureness(*signals.sm, limits.working_sm_percent, kFar),
                 fmt::format("The GPU computes: {} of its processors are at work", percent_words(*signals.sm)));
  add_evidence(finding, {{"gpu_utilization_percent", signals.utilization},
                         {"sm_active_percent", signals.sm},
                         {"tensor_active_percent", signals.tensor},
                         {"dram_active_percent", signals.dram},
                         {"power_draw_watts", signals.power_watts, Unit::watts}});
  return finding;
}

Judgement unknown(const DeviceSignals &signals, const Thresholds &limits) {
  if (signals.lost) return std::nullopt;
  constexpr double kLittle = 0.3;
  std::string text = "What the GPU does cannot be told from these readings";
  if (!signals.tells_work() && signals.utilization) {
    const bool works = signals.power_share.value_or(0) >= limits.working_power_share;
    text = fmt::format(
        "The GPU is busy {} of the time{}; this GPU does not tell what with", percent_words(*signals.utilization),
        !signals.power_share ? ""
        : works ? fmt::format(" and draws {} of its power limit", percent_words(*signals.power_share * 100))
                : fmt::format(" and draws only {} of its power limit: small kernels, copies or waiting",
                              percent_words(*signals.power_share * 100)));
  }
  auto finding = finding_of(FindingId::unknown, Weight::ok, signals, kLittle, std::move(text));
  add_evidence(finding, {{"gpu_utilization_percent", signals.utilization},
                         {"sm_active_percent", signals.sm},
                         {"power_draw_watts", signals.power_watts, Unit::watts}});
  add_host_evidence(finding, signals);
  return finding;
}

}  // namespace gpulse::insight::rules

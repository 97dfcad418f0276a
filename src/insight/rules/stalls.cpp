// SPDX-License-Identifier: Apache-2.0
// The GPU works, stops for a while, and works again: a checkpoint, a validation, a batch that takes long to make.
#include <fmt/format.h>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

Judgement periodic_stalls(const DeviceSignals &signals, const Thresholds &limits) {
  constexpr double kUpper = 0.9;
  const auto level = signals.activity.quantile(kUpper);
  if (!level || *level < limits.stall_level_percent || !signals.has_compute_job()) return std::nullopt;
  const auto stalls = find_stalls(signals.activity, limits.stall_low * *level, limits.stall_high * *level);
  if (stalls.count == 0 || stalls.seconds < limits.stall_seconds || stalls.busy_seconds < limits.stall_seconds)
    return std::nullopt;
  if (stalls.share < limits.stall_share || stalls.share > limits.stall_most_share) return std::nullopt;
  constexpr double kOnce = 0.5, kTwice = 0.8, kOften = 0.9;
  const double confidence = stalls.count == 1 ? kOnce : stalls.count == 2 ? kTwice : kOften;
  const auto weight = stalls.share >= limits.stall_problem_share ? Weight::problem : Weight::note;
  auto context = context_of(signals);
  context.writes = signals.job_sum(&JobSignals::write_bytes_per_second).value_or(0) >= limits.read_bytes_per_second;
  context.reads = signals.job_sum(&JobSignals::read_bytes_per_second).value_or(0) >= limits.read_bytes_per_second;
  context.stall_seconds = stalls.seconds;
  context.lost_share = stalls.share;
  const auto *doing = context.writes ? ", while the job writes" : context.reads ? ", while the job reads" : "";
  auto finding = finding_of(
      FindingId::periodic_stalls, weight, signals, confidence,
      stalls.count == 1
          ? fmt::format("Work stopped once for {} within {}{}", duration_words(stalls.seconds),
                        duration_words(signals.seconds), doing)
          : fmt::format("Work stops again and again: {} times for about {} with {} of work between{}", stalls.count,
                        duration_words(stalls.seconds), duration_words(stalls.busy_seconds), doing));
  finding.lost_share = stalls.share;
  add_evidence(finding, {{"stalls", static_cast<double>(stalls.count), Unit::none},
                         {"stall_seconds", stalls.seconds, Unit::seconds},
                         {"work_seconds", stalls.busy_seconds, Unit::seconds},
                         {"stalled_percent", stalls.share * 100},
                         {"gpu_utilization_percent", signals.utilization},
                         {"sm_active_percent", signals.sm}});
  add_host_evidence(finding, signals);
  add_advice(finding, context);
  return finding;
}

}  // namespace gpulse::insight::rules

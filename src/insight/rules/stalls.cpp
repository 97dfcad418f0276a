// SPDX-License-Identifier: Apache-2.0
// The GPU works, stops for a while, and works again: a checkpoint, a validation, a batch that takes long to make.
#include <fmt/format.h>

#include <algorithm>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

namespace {

bool is_young(const DeviceSignals &signals, const Thresholds &limits) {
  return std::ranges::any_of(
      signals.jobs, [&](const JobSignals &job) { return job.age_seconds && *job.age_seconds < limits.young_seconds; });
}

// It is not known yet whether work goes on.
Finding stopped(const DeviceSignals &signals, const Stalls &stalls) {
  constexpr double kGuess = 0.5;
  auto finding = finding_of(FindingId::periodic_stalls, Weight::note, signals, kGuess,
                            fmt::format("Work has stopped for {}, after {} of it", duration_words(stalls.end_seconds),
                                        duration_words(stalls.busy_seconds)));
  finding.lost_share = stalls.share;
  add_evidence(finding, {{"stall_seconds", stalls.end_seconds, Unit::seconds},
                         {"work_seconds", stalls.busy_seconds, Unit::seconds},
                         {"stalled_percent", stalls.share * 100},
                         {"gpu_utilization_percent", signals.utilization},
                         {"sm_active_percent", signals.sm}});
  add_host_evidence(finding, signals);
  auto context = context_of(signals);
  context.stall_seconds = stalls.end_seconds;
  context.lost_share = stalls.share;
  add_advice(finding, context);
  return finding;
}

}  // namespace

Stalls stalls_of(const DeviceSignals &signals, const Thresholds &limits) {
  constexpr double kUpper = 0.9;
  const auto level = signals.activity.quantile(kUpper);
  if (!level || *level < limits.stall_level_percent) return {};
  return find_stalls(signals.activity, limits.stall_low * *level, limits.stall_high * *level);
}

bool has_stopped(const DeviceSignals &signals, const Stalls &stalls, const Thresholds &limits) {
  return stalls.at_end && stalls.end_seconds >= limits.stopped_seconds &&
         stalls.busy_seconds >= limits.stopped_seconds &&
         stalls.end_seconds >= limits.stopped_share * stalls.share * signals.seconds;
}

Judgement periodic_stalls(const DeviceSignals &signals, const Thresholds &limits) {
  if (!signals.has_compute_job()) return std::nullopt;
  const auto stalls = stalls_of(signals, limits);
  if (stalls.count == 0) {
    if (has_stopped(signals, stalls, limits)) return stopped(signals, stalls);
    return std::nullopt;
  }
  if (stalls.seconds < limits.stall_seconds || stalls.busy_seconds < limits.stall_seconds) return std::nullopt;
  if (stalls.share < limits.stall_share || stalls.share > limits.stall_most_share) return std::nullopt;
  const bool young = is_young(signals, limits);
  const bool once = stalls.count == 1 && !stalls.at_end && (young || !stalls.at_begin);
  // A job that stops for longer than it has worked is still being set up: data prepared, kernels compiled.
  if (once && young && stalls.first_work < stalls.seconds) return std::nullopt;
  constexpr double kOnce = 0.5, kTwice = 0.8, kOften = 0.9;
  const double confidence = stalls.count == 1 ? kOnce : stalls.count == 2 ? kTwice : kOften;
  const auto weight = !once && stalls.share >= limits.stall_problem_share ? Weight::problem : Weight::note;
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

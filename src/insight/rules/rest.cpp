// SPDX-License-Identifier: Apache-2.0
// The GPU does nothing at all: nobody is there, a job is starting, or somebody holds it without using it.
#include <fmt/format.h>

#include <algorithm>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

namespace {

// No kernel and no copy, nearly all of the time.
bool is_at_rest(const DeviceSignals &signals, const Thresholds &limits) {
  const auto active = signals.active.value_or(0), utilization = signals.utilization.value_or(0);
  const bool known = signals.active || signals.utilization;
  return known && (signals.active ? active : utilization) < limits.at_rest_percent &&
         utilization < limits.at_rest_percent;
}

bool is_left(const DeviceSignals &signals) {
  return std::ranges::all_of(signals.jobs, [](const JobSignals &job) { return job.ended || !job.compute; });
}

double held_bytes(const DeviceSignals &signals) {
  double sum = 0;
  for (const auto &job : signals.jobs) {
    if (job.compute) sum += job.memory.last().value_or(0);
  }
  return sum > 0 ? sum : signals.memory_used_bytes().value_or(0);
}

// The job computes on the CPU or reads: it may be about to go on.
bool job_works(const DeviceSignals &signals, const Thresholds &limits) {
  constexpr double kBusy = 10;  // percent of a core
  return signals.job_sum(&JobSignals::cpu_percent).value_or(0) >= kBusy ||
         signals.job_sum(&JobSignals::read_bytes_per_second).value_or(0) >= limits.read_bytes_per_second ||
         signals.job_sum(&JobSignals::write_bytes_per_second).value_or(0) >= limits.read_bytes_per_second;
}

// For how long somebody was seen to hold it.
double held_seconds(const DeviceSignals &signals) {
  double most = 0;
  for (const auto &job : signals.jobs) {
    const auto times = job.memory.times();
    if (!times.empty()) most = std::max(most, times.back() - times.front());
  }
  return most;
}

std::string holds(const DeviceSignals &signals) {
  return fmt::format("holds {} and has run nothing for {}", size_words(held_bytes(signals)),
                     duration_words(held_seconds(signals)));
}

bool is_held(const DeviceSignals &signals, const Thresholds &limits) {
  return is_at_rest(signals, limits) && !signals.starting && signals.has_compute_job() && !is_left(signals) &&
         held_bytes(signals) >= limits.held_bytes && held_seconds(signals) >= limits.held_seconds &&
         !job_works(signals, limits);
}

Finding held(FindingId id, Weight weight, const DeviceSignals &signals, const char *so) {
  constexpr double kLong = 60;
  auto finding =
      finding_of(id, weight, signals, sureness(signals.seconds, 0, kLong),
                 fmt::format("{} {}: {}", signals.jobs.size() == 1 ? "The job" : "A job", holds(signals), so));
  finding.lost_share = 1;
  add_evidence(finding, {{"gpu_utilization_percent", signals.utilization},
                         {"sm_active_percent", signals.sm},
                         {"memory_held_bytes", held_bytes(signals), Unit::bytes},
                         {"job_cpu_percent", signals.job_sum(&JobSignals::cpu_percent)},
                         {"seconds", signals.seconds, Unit::seconds}});
  add_advice(finding, context_of(signals));
  return finding;
}

}  // namespace

Judgement idle(const DeviceSignals &signals, const Thresholds &limits) {
  if (signals.lost) return std::nullopt;
  const bool nobody = signals.jobs.empty() && signals.knows_processes;
  // What is left of a job that has ended.
  const bool left = !signals.jobs.empty() && is_left(signals) && is_at_rest(signals, limits);
  const bool unheld = !signals.knows_processes && is_at_rest(signals, limits) &&
                      signals.memory_used_bytes().value_or(0) < limits.held_bytes;
  if (!nobody && !left && !unheld) return std::nullopt;
  constexpr double kSure = 0.95;
  auto finding = finding_of(FindingId::idle, Weight::ok, signals, kSure, "Nobody uses the GPU");
  finding.estimated = false;
  add_evidence(finding, {{"gpu_utilization_percent", signals.utilization}});
  return finding;
}

Judgement starting(const DeviceSignals &signals, const Thresholds &) {
  if (!signals.starting) return std::nullopt;
  constexpr double kLikely = 0.7;
  auto finding = finding_of(FindingId::unknown, Weight::ok, signals, kLikely,
                            "A job is starting: it has not used the GPU for long enough to be judged");
  add_host_evidence(finding, signals);
  return finding;
}

Judgement memory_held_idle(const DeviceSignals &signals, const Thresholds &limits) {
  if (!is_held(signals, limits)) return std::nullopt;
  const auto waits = [](const JobSignals &job) {
    return job.ended || !job.compute || is_interactive(job) || is_server(job);
  };
  if (!std::ranges::all_of(signals.jobs, waits)) return std::nullopt;
  return held(FindingId::memory_held_idle, Weight::note, signals, "a notebook or a server that waits for somebody");
}

Judgement hung(const DeviceSignals &signals, const Thresholds &limits) {
  if (!is_held(signals, limits)) return std::nullopt;
  return held(FindingId::hung, Weight::problem, signals, "its processes wait, neither computing nor reading");
}

}  // namespace gpulse::insight::rules

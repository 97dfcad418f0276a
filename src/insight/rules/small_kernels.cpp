// SPDX-License-Identifier: Apache-2.0
// Kernels run, and nearly all of the GPU has nothing to do meanwhile: one spins, or each is too small and over before
// the next one is launched.
#include <fmt/format.h>

#include <algorithm>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

namespace {

Finding small(FindingId id, const DeviceSignals &signals, double confidence, std::string text) {
  auto finding = finding_of(id, Weight::problem, signals, confidence, std::move(text));
  finding.lost_share = 1 - *signals.sm / 100;
  add_evidence(finding, {{"gpu_utilization_percent", signals.utilization},
                         {"graphics_active_percent", signals.active},
                         {"sm_active_percent", signals.sm},
                         {"fill_percent", *signals.fill() * 100},
                         {"power_draw_watts", signals.power_watts, Unit::watts},
                         {"pcie_rx_bytes_per_second", signals.receive_bytes_per_second, Unit::bytes_per_second}});
  add_host_evidence(finding, signals);
  auto context = context_of(signals);
  context.lost_share = finding.lost_share;
  add_advice(finding, context);
  return finding;
}

// Nothing comes in but launches.
bool is_unfed(const DeviceSignals &signals, const Thresholds &limits) {
  const auto fed = signals.fed_bytes_per_kernel_second();
  return fed && *fed < limits.fed_bytes_per_second;
}

bool has_small_kernels(const DeviceSignals &signals, double small_fill, const Thresholds &limits) {
  const auto fill = signals.fill();
  return fill && signals.has_compute_job() && *fill < small_fill && *signals.active >= limits.at_rest_percent;
}

bool computes_nothing(const DeviceSignals &signals, const Thresholds &limits) {
  const auto rests = [&](Number pipe) { return pipe && *pipe < limits.at_rest_percent; };
  return rests(signals.tensor) && rests(signals.fp32) && rests(signals.dram) &&
         signals.fp64.value_or(0) < limits.at_rest_percent;
}

}  // namespace

Judgement spinning(const DeviceSignals &signals, const Thresholds &limits) {
  if (!has_small_kernels(signals, limits.small_fill, limits)) return std::nullopt;
  const bool launches = signals.receive_bytes_per_second.value_or(0) >= limits.spin_bytes_per_second;
  // One that waits for other GPUs takes more processors, and computes nothing on them.
  const bool computes = *signals.sm >= limits.spin_sm_percent && !computes_nothing(signals, limits);
  if (*signals.active < limits.spin_busy_percent || computes || launches) return std::nullopt;
  return small(FindingId::spinning, signals,
               sureness(*signals.active, limits.spin_busy_percent, 100 - limits.spin_busy_percent),
               fmt::format("The GPU says that it is busy, and {} of its processors are: a kernel spins or waits",
                           percent_words(*signals.sm)));
}

Judgement launch_bound(const DeviceSignals &signals, const Thresholds &limits) {
  const bool unfed = is_unfed(signals, limits);
  const double small_fill = unfed ? std::max(limits.small_fill, limits.unfed_fill) : limits.small_fill;
  if (!has_small_kernels(signals, small_fill, limits)) return std::nullopt;
  const bool launching = (unfed || *signals.active >= limits.launch_busy_percent) &&
                         signals.cpu_while_waiting().value_or(0) >= limits.launch_cpu_share;
  if (!launching && *signals.active < limits.filled_busy_percent) return std::nullopt;
  return small(FindingId::launch_bound, signals, sureness(*signals.fill(), small_fill, small_fill),
               fmt::format("Kernels are too small: they run for {} of the time on {} of the processors",
                           percent_words(*signals.active), percent_words(*signals.sm)));
}

}  // namespace gpulse::insight::rules

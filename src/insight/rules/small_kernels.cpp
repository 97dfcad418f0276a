// SPDX-License-Identifier: Apache-2.0
// Kernels run, and nearly all of the GPU has nothing to do meanwhile: one spins, or each is too small and over before
// the next one is launched.
#include <fmt/format.h>

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

bool has_small_kernels(const DeviceSignals &signals, const Thresholds &limits) {
  const auto fill = signals.fill();
  return fill && signals.has_compute_job() && *fill < limits.small_fill && *signals.active >= limits.at_rest_percent;
}

}  // namespace

Judgement spinning(const DeviceSignals &signals, const Thresholds &limits) {
  if (!has_small_kernels(signals, limits)) return std::nullopt;
  const bool launches = signals.receive_bytes_per_second.value_or(0) >= limits.spin_bytes_per_second;
  if (*signals.active < limits.spin_busy_percent || *signals.sm >= limits.spin_sm_percent || launches)
    return std::nullopt;
  return small(FindingId::spinning, signals, sureness(*signals.sm, limits.spin_sm_percent, limits.spin_sm_percent),
               fmt::format("The GPU says that it is busy, and {} of its processors are: a kernel spins or waits",
                           percent_words(*signals.sm)));
}

Judgement launch_bound(const DeviceSignals &signals, const Thresholds &limits) {
  if (!has_small_kernels(signals, limits)) return std::nullopt;
  const bool launching = *signals.active >= limits.launch_busy_percent &&
                         signals.cpu_while_waiting().value_or(0) >= limits.launch_cpu_share;
  if (!launching && *signals.active < limits.filled_busy_percent) return std::nullopt;
  return small(FindingId::launch_bound, signals, sureness(*signals.fill(), limits.small_fill, limits.small_fill),
               fmt::format("Kernels are too small: they run for {} of the time on {} of the processors",
                           percent_words(*signals.active), percent_words(*signals.sm)));
}

}  // namespace gpulse::insight::rules

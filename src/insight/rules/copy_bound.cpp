// SPDX-License-Identifier: Apache-2.0
// The GPU is busy with copies to and from the host. Its utilisation counts them; its processors do not.
#include <fmt/format.h>

#include <algorithm>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

namespace {

// A core of the job has nothing to do but to wait for the GPU or to move bytes.
bool has_full_core(const DeviceSignals &signals, const Thresholds &limits) {
  return signals.cpu_while_waiting().value_or(0) >= limits.cpu_full_share;
}

// How much of the time copies take: what is busy without a kernel, or what the link was used for; if that is little,
// how long a core that copies what is not pinned takes for it.
double copy_share(const DeviceSignals &signals, double bytes_per_second, const Thresholds &limits) {
  double share = 0;
  if (signals.utilization && signals.active) share = (*signals.utilization - *signals.active) / 100;
  if (signals.link_bytes_per_second) share = std::max(share, bytes_per_second / *signals.link_bytes_per_second);
  if (share < limits.copy_share && has_full_core(signals, limits)) {
    share = std::max(share, bytes_per_second / limits.pageable_bytes_per_second);
  }
  return std::clamp(share, 0.0, 1.0);
}

}  // namespace

Judgement copy_bound(const DeviceSignals &signals, const Thresholds &limits) {
  if (!signals.receive_bytes_per_second || !signals.send_bytes_per_second || signals.jobs.empty()) return std::nullopt;
  const double in = *signals.receive_bytes_per_second, out = *signals.send_bytes_per_second;
  const double share = copy_share(signals, in + out, limits);
  if (std::max(in, out) < limits.copy_bytes_per_second || share < limits.copy_share) return std::nullopt;
  if (signals.sm && *signals.sm >= limits.copy_sm_percent) return std::nullopt;
  constexpr double kFar = 0.4;
  auto finding = finding_of(FindingId::copy_bound, Weight::problem, signals, sureness(share, limits.copy_share, kFar),
                            fmt::format("The GPU spends {} of its time on copies over PCIe ({} in, {} out)",
                                        percent_words(share * 100), rate_words(in), rate_words(out)));
  finding.lost_share = share;
  add_evidence(finding, {{"gpu_utilization_percent", signals.utilization},
                         {"graphics_active_percent", signals.active},
                         {"sm_active_percent", signals.sm},
                         {"pcie_rx_bytes_per_second", in, Unit::bytes_per_second},
                         {"pcie_tx_bytes_per_second", out, Unit::bytes_per_second},
                         {"pcie_link_bytes_per_second", signals.link_bytes_per_second, Unit::bytes_per_second},
                         {"copy_share_percent", share * 100}});
  auto context = context_of(signals);
  context.lost_share = finding.lost_share;
  add_advice(finding, context);
  return finding;
}

}  // namespace gpulse::insight::rules

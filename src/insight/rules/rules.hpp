// SPDX-License-Identifier: Apache-2.0
// The rules: each looks at the numbers of one device and says whether it applies. What the device does is the first
// that applies of state_rules(); side_rules() are asked besides, all of them. Pure.
#pragma once

#include <optional>
#include <span>

#include "insight/finding.hpp"
#include "insight/signals.hpp"
#include "insight/thresholds.hpp"

namespace gpulse::insight {

using Judgement = std::optional<Finding>;
using Judge = Judgement (*)(const DeviceSignals &, const Thresholds &);

struct Rule {
  FindingId id;
  Judge judge;
};

std::span<const Rule> state_rules();
std::span<const Rule> side_rules();

namespace rules {

// What the device does
Judgement idle(const DeviceSignals &signals, const Thresholds &limits);
Judgement starting(const DeviceSignals &signals, const Thresholds &limits);
Judgement memory_held_idle(const DeviceSignals &signals, const Thresholds &limits);
Judgement hung(const DeviceSignals &signals, const Thresholds &limits);
Judgement copy_bound(const DeviceSignals &signals, const Thresholds &limits);
Judgement spinning(const DeviceSignals &signals, const Thresholds &limits);
Judgement launch_bound(const DeviceSignals &signals, const Thresholds &limits);
Judgement periodic_stalls(const DeviceSignals &signals, const Thresholds &limits);
Judgement input_cpu(const DeviceSignals &signals, const Thresholds &limits);
Judgement input_io(const DeviceSignals &signals, const Thresholds &limits);
Judgement waiting(const DeviceSignals &signals, const Thresholds &limits);
Judgement wrong_precision(const DeviceSignals &signals, const Thresholds &limits);
Judgement tensor_unused(const DeviceSignals &signals, const Thresholds &limits);
Judgement memory_bandwidth(const DeviceSignals &signals, const Thresholds &limits);
Judgement healthy(const DeviceSignals &signals, const Thresholds &limits);
Judgement unknown(const DeviceSignals &signals, const Thresholds &limits);

// What else there is
Judgement throttled_power(const DeviceSignals &signals, const Thresholds &limits);
Judgement throttled_thermal(const DeviceSignals &signals, const Thresholds &limits);
Judgement throttled_hardware(const DeviceSignals &signals, const Thresholds &limits);
Judgement memory_leak(const DeviceSignals &signals, const Thresholds &limits);
Judgement memory_full(const DeviceSignals &signals, const Thresholds &limits);
Judgement memory_headroom(const DeviceSignals &signals, const Thresholds &limits);
Judgement host_memory(const DeviceSignals &signals, const Thresholds &limits);
Judgement link_degraded(const DeviceSignals &signals, const Thresholds &limits);
Judgement health(const DeviceSignals &signals, const Thresholds &limits);

}  // namespace rules

// Of the devices of one job together.
std::vector<Finding> imbalances(std::span<const DeviceSignals> devices, const Thresholds &limits);

}  // namespace gpulse::insight

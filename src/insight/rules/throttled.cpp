// SPDX-License-Identifier: Apache-2.0
// Something holds the clocks back.
#include <fmt/format.h>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

namespace {

Judgement throttled(FindingId id, Weight weight, const DeviceSignals &signals, Number share, double least,
                    const char *what) {
  if (!share || *share < least || signals.jobs.empty()) return std::nullopt;
  constexpr double kFar = 0.3;
  const auto clocks = signals.clock_share ? fmt::format(", the clock is at {} of its highest",
                                                        percent_words(*signals.clock_share * 100))
                                          : std::string();
  auto finding = finding_of(id, weight, signals, sureness(*share, least, kFar),
                            fmt::format("{} for {} of the time{}", what, percent_words(*share * 100), clocks));
  finding.estimated = false;
  if (signals.clock_share) finding.lost_share = 1 - *signals.clock_share;
  add_evidence(finding, {{"throttled_percent", *share * 100},
                         {"clock_percent", signals.clock_share ? Number(*signals.clock_share * 100) : std::nullopt},
                         {"power_draw_watts", signals.power_watts, Unit::watts}});
  add_advice(finding, context_of(signals));
  return finding;
}

}  // namespace

Judgement throttled_power(const DeviceSignals &signals, const Thresholds &limits) {
  // At its limit and still at its highest clock it loses nothing.
  if (!signals.clock_share || *signals.clock_share >= limits.capped_clock_share) return std::nullopt;
  return throttled(FindingId::throttled_power, Weight::note, signals, signals.capped_share, limits.capped_share,
                   "The power limit holds the GPU back");
}

Judgement throttled_thermal(const DeviceSignals &signals, const Thresholds &limits) {
  return throttled(FindingId::throttled_thermal, Weight::problem, signals, signals.thermal_share, limits.thermal_share,
                   "Heat holds the GPU back");
}

Judgement throttled_hardware(const DeviceSignals &signals, const Thresholds &limits) {
  return throttled(FindingId::throttled_hardware, Weight::problem, signals, signals.hardware_share,
                   limits.hardware_share, "The hardware slows the GPU down (power brake or a fault)");
}

}  // namespace gpulse::insight::rules

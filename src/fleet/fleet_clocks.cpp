// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;

constexpr Seconds kLeast = 60s;  // by which a clock is worth a question

}  // namespace

FleetClocks::FleetClocks(const FleetParts &parts) {
  for (const auto &series : part_of(parts, FleetPart::told)) {
    if (const auto moment = moment_of(series)) told_at_[host_key_of(series)] = *moment;
  }
  for (const auto &series : part_of(parts, FleetPart::going)) going_.insert(host_key_of(series));
}

std::optional<WallTime> FleetClocks::corrected(const std::string &host_key, WallTime own, Seconds limit) const {
  const auto told = told_at_.find(host_key);
  if (told == told_at_.end()) return std::nullopt;
  const Seconds ahead = own - told->second;
  const bool is_wrong = ahead > limit || (ahead < -limit && going_.contains(host_key));
  return is_wrong ? std::optional(told->second) : std::nullopt;
}

bool has_slow_clock(const FleetParts &parts) {
  std::map<std::string, WallTime> told;
  for (const auto &series : part_of(parts, FleetPart::told))
    told[host_key_of(series)] = moment_of(series).value_or(WallTime());
  return std::ranges::any_of(part_of(parts, FleetPart::alive), [&](const EngineSeries &series) {
    const auto moment = moment_of(series);
    const auto found = told.find(host_key_of(series));
    return moment && found != told.end() && found->second - *moment > kLeast;
  });
}

std::string off_words(Seconds ahead) {
  const double seconds = std::abs(ahead.count());
  constexpr double kMinute = 60, kHour = 3600;
  const auto time = seconds < 2 * kMinute ? fmt::format("{:.0f} s", seconds)
                    : seconds < 2 * kHour ? fmt::format("{:.0f} min", seconds / kMinute)
                                          : fmt::format("{:.0f} h", seconds / kHour);
  return fmt::format("{} {}", time, ahead > 0s ? "fast" : "slow");
}

}  // namespace gpulse::fleet

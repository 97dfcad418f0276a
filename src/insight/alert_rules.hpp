// SPDX-License-Identifier: Apache-2.0
// What deserves an alert, as plain values made from the tables: thresholds of metrics, kinds of findings, the driver's
// errors. Written as PromQL by view/alert_rules; judged by the agent itself in src/alert. Pure; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "insight/finding.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse::insight {

enum class AlertLevel : std::uint8_t { info, warning, critical };
inline constexpr std::size_t kAlertLevels = 3;
std::string_view word(AlertLevel level);
std::optional<AlertLevel> alert_level_named(std::string_view word);

// What has to hold; all but the last of each device on its own.
struct StateIs {
  DeviceState state = DeviceState::ok;
};
// An error of the driver's within the rule's stretch of time, for each number.
struct XidSeen {
  bool of_program = false;  // those that are the program's own fault; else all others
};
// From `from` on and below `below`, in the metric's unit.
struct ReadingWithin {
  MetricId metric{};
  double from = -kNoThreshold, below = kNoThreshold;
  bool goes_on = false;  // from `below` on it is the business of a graver rule of the same name
  std::optional<double>
      until{};  // over when it is back beyond this; none: a little less than `from`, or more than `below`
};
// A counter's growth within the rule's stretch of time.
struct CounterGrew {
  MetricId metric{};
  double by = 1;
};
// For more than this share of the rule's stretch of time, for each word of a set.
struct HeldBack {
  MetricId metric{};
  std::uint64_t bits = 0;
  double share = 0;
};
struct FindingLasts {
  FindingId finding = FindingId::unknown;
};
enum class AgentTrouble : std::uint8_t {
  gone,    // only somebody else can see that
  silent,  // and this: an agent that nobody scrapes has not written for a while
  stale,
  drops_samples,  // that were to be kept, within the rule's stretch of time
};
struct AgentIs {
  AgentTrouble trouble = AgentTrouble::gone;
};
using AlertCondition = std::variant<StateIs, XidSeen, ReadingWithin, CounterGrew, HeldBack, FindingLasts, AgentIs>;

// In `summary` and `description` stand {gpu}, {host}, {device} (the GPU, in whatever words), {value}, {share}, {xid}
// and {reason} for what an alert is about, and {over} for the stretch of time.
struct AlertRule {
  std::string name;  // "GpuLost"; two rules of one name differ in their level
  AlertCondition condition;
  std::chrono::seconds over{0};      // the stretch of time that is looked back at, where the condition has one
  std::chrono::nanoseconds wait{0};  // how long it has to hold
  std::optional<std::chrono::nanoseconds> keep{};  // and not to hold, before it is over; none: as is usual
  std::optional<AlertLevel> level{};               // none: of a finding, by how grave that is
  std::string summary;
  std::string description;  // what it means and what to do
};

// In the order of the tables; none of them changed by a configuration.
std::vector<AlertRule> alert_rules();

// The level of a finding of this weight.
inline AlertLevel level_of(Weight weight) { return weight == Weight::problem ? AlertLevel::warning : AlertLevel::info; }

// As parse_duration takes it, in the largest unit without a rest: "90s", "2m", "0s".
std::string duration_text(std::chrono::nanoseconds time);

// "15 minutes", "1 hour".
std::string over_words(std::chrono::seconds over);

// The rule for one metric: from here on, as its kind says; of what counts, any further ones.
AlertRule threshold_rule(std::string name, MetricId metric, double from, double below, AlertLevel level);

}  // namespace gpulse::insight

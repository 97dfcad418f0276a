// SPDX-License-Identifier: Apache-2.0
// A fleet put in groups: which GPUs belong together, what they add up to, the worst first. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "fleet/fleet_snapshot.hpp"

namespace gpulse::fleet {

enum class FleetBy : std::uint8_t { host, cluster, user, job, account, pod, model };
inline constexpr std::array<std::string_view, 7> kFleetBy{"host", "cluster", "user", "job", "account", "pod", "model"};
enum class FleetSort : std::uint8_t { waste, health, use, name };
inline constexpr std::array<std::string_view, 4> kFleetSorts{"waste", "health", "use", "name"};
// What --filter takes besides.
inline constexpr std::string_view kFilterState = "state", kFilterFinding = "finding", kFilterRemark = "remark";
// Of the worst finding of a GPU: problem or note; whether it is held but idle: yes or no; errors of the driver.
inline constexpr std::string_view kFilterSeverity = "severity", kFilterIdle = "idle", kFilterXid = "xid";

// Any name by which GPUs are grouped, or a part of it.
inline constexpr std::string_view kFilterAny = "any";

// WORD=VALUE: the GPUs of which this is true; * and ? stand for other letters, which may be capitals or not.
struct FleetFilter {
  std::string word{}, value{};
};
Result<FleetFilter> parse_fleet_filter(std::string_view text);

// A sum and of how many GPUs it is.
struct Known {
  double sum = 0;
  std::size_t count = 0;

  void add(const std::optional<double> &value) {
    if (value) sum += *value, ++count;
  }
  std::optional<double> mean() const {
    return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
  }
  std::optional<double> total() const { return count > 0 ? std::optional(sum) : std::nullopt; }
};

// Instances count with their GPU. What is silent is counted, and in no mean.
struct FleetTotals {
  std::size_t hosts = 0, silent_hosts = 0;
  std::size_t gpus = 0, held = 0, held_known = 0, idle = 0;
  std::array<std::size_t, 6> states{};  // by GpuState
  Known utilization{}, true_activity{}, memory_percent{}, watts{};
  Known wasted{};  // GPUs that were held and not used: the rest of the true activity
  std::optional<double> hottest{};
  std::size_t problems = 0, notes = 0, errors = 0;  // GPUs with such findings, or errors of the driver
  std::size_t remarked = 0;                         // GPUs that differ from their sisters
  std::size_t compared = 0;                         // GPUs of which anything is known that sisters are compared by
  // GPUs of which these are told, and of which all are.
  std::size_t state_known = 0, findings_known = 0, errors_known = 0, idle_known = 0, judged = 0;
  std::size_t bad() const;  // GPUs and hosts that need somebody
};

// `nobody`: GPUs that no process is on; `unknown`: nobody tells what they would be grouped by.
enum class GroupKind : std::uint8_t { named, nobody, unknown };

struct FleetGroup {
  GroupKind kind = GroupKind::named;
  Text name{};
  std::vector<std::size_t> gpus{};   // of the snapshot, without instances
  std::vector<std::size_t> hosts{};  // theirs, and one that has no GPU
  FleetTotals totals{};
  std::vector<Text> users{};  // who holds them: the user, else the pod, else the job
  Text worst{};               // in a few words; empty: all is well
  int severity = 0;           // of that, for sorting: 0 well, 1 note, 2 problem, 3 broken
};

struct FleetQuestion {
  FleetBy by = FleetBy::host;
  FleetSort sort = FleetSort::health;
  std::vector<FleetFilter> filters{};  // of several with the same word one must fit; of "any" all must
};

struct FleetView {
  FleetQuestion question{};
  std::vector<FleetGroup> groups{};
  FleetTotals totals{};
  std::vector<std::size_t> gpus{};   // that fit, with their instances
  std::vector<std::size_t> hosts{};  // that fit
};

FleetView make_fleet_view(const FleetSnapshot &fleet, FleetQuestion question);

// "silent 4 min", of one that is.
std::string silent_words(const FleetHost &host);

}  // namespace gpulse::fleet

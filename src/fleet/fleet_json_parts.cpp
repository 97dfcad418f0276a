// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_json_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpulse::fleet {

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

std::string_view word(GroupKind kind) {
  constexpr std::array<std::string_view, 3> kWords{"named", "nobody", "unknown"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::vector<Amount> amounts_of(const FleetTotals &totals) {
  const auto count = [](std::size_t number) { return std::optional(static_cast<double>(number)); };
  // Where nobody tells it is not 0.
  const auto told = [&](std::size_t number, std::size_t known) {
    return known > 0 || totals.gpus == 0 ? count(number) : std::nullopt;
  };
  const auto state = [&](GpuState of) { return told(totals.states[static_cast<std::size_t>(of)], totals.state_known); };
  return {{"hosts", count(totals.hosts)},
          {"silent_hosts", count(totals.silent_hosts)},
          {"gpus", count(totals.gpus)},
          {"held", totals.held_known > 0 ? count(totals.held) : std::nullopt},
          {"held_known", count(totals.held_known)},
          {"held_but_idle", totals.idle_known > 0 ? count(totals.idle) : std::nullopt},
          {"lost", state(GpuState::lost)},
          {"not_responding", state(GpuState::not_responding)},
          {"gone", state(GpuState::gone)},
          {"asleep", state(GpuState::asleep)},
          {"silent", count(totals.states[static_cast<std::size_t>(GpuState::silent)])},
          {"with_driver_errors", told(totals.errors, totals.errors_known)},
          {"with_problems", told(totals.problems, totals.findings_known)},
          {"with_notes", told(totals.notes, totals.findings_known)},
          {"with_remarks", told(totals.remarked, totals.compared)},
          {"utilization_percent", totals.utilization.mean()},
          {"true_activity_percent", totals.true_activity.mean()},
          {"true_activity_known", count(totals.true_activity.count)},
          {"memory_used_percent", totals.memory_percent.mean()},
          {"power_watts", totals.watts.total()},
          {"hottest_celsius", totals.hottest},
          {"wasted_gpus", totals.wasted.total()},
          {"state_known", count(totals.state_known)},
          {"findings_known", count(totals.findings_known)},
          {"driver_errors_known", count(totals.errors_known)}};
}

void write_text(JsonWriter &json, std::string_view name, std::string_view text) {
  json.key(name);
  text.empty() ? json.null() : json.value(text);
}

void write_amounts(JsonWriter &json, const FleetTotals &totals, std::span<const std::string_view> without) {
  for (const auto &[name, value] : amounts_of(totals)) {
    if (std::ranges::find(without, name) != without.end()) continue;
    json.key(name);
    value ? json.value(rounded(*value)) : json.null();
  }
}

void write_group_members(JsonWriter &json, const FleetGroup &group, std::span<const std::string_view> without) {
  json.member("kind", word(group.kind));
  write_text(json, "name", group.name.str());
  write_amounts(json, group.totals, without);
  json.key("users");
  json.begin_array();
  for (const auto &user : group.users) json.value(user.str());
  json.end_array();
  write_text(json, "worst", group.worst.str());
  json.member("severity", group.severity);
}

void write_host_members(JsonWriter &json, const FleetHost &host) {
  json.member("name", host.name.str());
  json.member("instance", printable(host.instance));
  write_text(json, "cluster", host.cluster.str());
  json.member("exporter", word(host.exporter));
  write_text(json, "last_sample", host.last ? iso8601_utc(*host.last) : std::string());
  json.member("silent", host.silent_for.has_value());
  json.key("silent_seconds");
  host.silent_for && !host.is_since_unknown ? json.value(std::round(host.silent_for->count())) : json.null();
}

void write_idle(JsonWriter &json, const FleetGpu &gpu) {
  const bool is_known = gpu.held && (!*gpu.held || !gpu.untold.idle);
  is_known ? json.value(gpu.idle) : json.null();
}

void write_owner_members(JsonWriter &json, const FleetOwner &owner) {
  write_text(json, "user", owner.user.str());
  write_text(json, "batch_job", owner.job.str());
  write_text(json, "batch_account", owner.account.str());
  write_text(json, "pod", owner.pod.str());
}

void write_faults(JsonWriter &json, const FleetSnapshot &fleet, const Text &trouble) {
  write_text(json, "trouble", trouble.str());
  write_text(json, "warning", fleet.warning.str());
  json.key("faults");
  json.begin_array();
  for (const auto &fault : fleet.faults) {
    json.begin_object();
    json.member("what", fault.what.str());
    json.member("why", fault.why.str());
    write_text(json, "as_of", fault.as_of ? iso8601_utc(*fault.as_of) : std::string());
    json.end_object();
  }
  json.end_array();
}

}  // namespace gpulse::fleet

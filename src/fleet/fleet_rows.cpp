// SPDX-License-Identifier: Apache-2.0
// A fleet for programs: comma-separated values and JSON.
#include <cmath>

#include "base/json_writer.hpp"
#include "fleet/fleet_text.hpp"
#include "view/csv.hpp"

namespace gpulse::fleet {

namespace {

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

std::string_view kind_word(GroupKind kind) {
  constexpr std::array<std::string_view, 3> kWords{"named", "nobody", "unknown"};
  return kWords[static_cast<std::size_t>(kind)];
}

// A number or none, under the same name in both formats.
struct Amount {
  std::string_view name;
  std::optional<double> value;
};

std::vector<Amount> amounts_of(const FleetTotals &totals) {
  const auto count = [](std::size_t number) { return std::optional(static_cast<double>(number)); };
  const auto state = [&](GpuState of) { return count(totals.states[static_cast<std::size_t>(of)]); };
  return {{"hosts", count(totals.hosts)},
          {"silent_hosts", count(totals.silent_hosts)},
          {"gpus", count(totals.gpus)},
          {"held", totals.held_known > 0 ? count(totals.held) : std::nullopt},
          {"held_known", count(totals.held_known)},
          {"held_but_idle", totals.held_known > 0 ? count(totals.idle) : std::nullopt},
          {"lost", state(GpuState::lost)},
          {"not_responding", state(GpuState::not_responding)},
          {"gone", state(GpuState::gone)},
          {"asleep", state(GpuState::asleep)},
          {"silent", state(GpuState::silent)},
          {"with_driver_errors", count(totals.errors)},
          {"with_problems", count(totals.problems)},
          {"with_notes", count(totals.notes)},
          {"with_remarks", count(totals.remarked)},
          {"utilization_percent", totals.utilization.mean()},
          {"true_activity_percent", totals.true_activity.mean()},
          {"true_activity_known", count(totals.true_activity.count)},
          {"memory_used_percent", totals.memory_percent.mean()},
          {"power_watts", totals.watts.total()},
          {"hottest_celsius", totals.hottest},
          {"wasted_gpus", totals.wasted.total()}};
}

void write_text(JsonWriter &json, std::string_view name, std::string_view text) {
  json.key(name);
  text.empty() ? json.null() : json.value(text);
}

void write_amounts(JsonWriter &json, const FleetTotals &totals) {
  for (const auto &[name, value] : amounts_of(totals)) {
    json.key(name);
    value ? json.value(rounded(*value)) : json.null();
  }
}

void write_group(JsonWriter &json, const FleetGroup &group) {
  json.begin_object();
  json.member("kind", kind_word(group.kind));
  write_text(json, "name", group.name.str());
  write_amounts(json, group.totals);
  json.key("users");
  json.begin_array();
  for (const auto &user : group.users) json.value(user.str());
  json.end_array();
  write_text(json, "worst", group.worst.str());
  json.member("severity", group.severity);
  json.end_object();
}

void write_host(JsonWriter &json, const FleetHost &host) {
  json.begin_object();
  json.member("name", host.name.str());
  json.member("instance", printable(host.instance));
  write_text(json, "cluster", host.cluster.str());
  json.member("exporter", word(host.exporter));
  write_text(json, "last_sample", host.last ? iso8601_utc(*host.last) : std::string());
  json.key("silent_seconds");
  host.silent_for ? json.value(std::round(host.silent_for->count())) : json.null();
  json.end_object();
}

void write_owners(JsonWriter &json, const FleetGpu &gpu) {
  json.key("owners");
  json.begin_array();
  for (const auto &owner : gpu.owners) {
    json.begin_object();
    write_text(json, "user", owner.user.str());
    write_text(json, "batch_job", owner.job.str());
    write_text(json, "batch_account", owner.account.str());
    write_text(json, "pod", owner.pod.str());
    json.end_object();
  }
  json.end_array();
}

void write_troubles(JsonWriter &json, const FleetGpu &gpu) {
  json.key("findings");
  json.begin_array();
  for (const auto &found : gpu.findings) {
    json.begin_object();
    json.member("id", found.id.str());
    json.member("severity", insight::word(found.weight));
    write_text(json, "title", found.title());
    json.end_object();
  }
  json.end_array();
  json.key("xids");
  json.begin_array();
  for (const auto code : gpu.errors) json.value(code);
  json.end_array();
}

void write_remarks(JsonWriter &json, const FleetGpu &gpu) {
  json.key("remarks");
  json.begin_array();
  for (const auto &remark : gpu.remarks) {
    json.begin_object();
    json.member("kind", insight::word(remark.id));
    json.member("severity", insight::word(remark.weight));
    json.member("text", remark.text.str());
    json.member("metric", describe(remark.metric).key);
    json.member("value", rounded(remark.value));
    json.member("usual", rounded(remark.usual));
    json.member("others", static_cast<std::uint64_t>(remark.others));
    json.end_object();
  }
  json.end_array();
}

void write_readings(JsonWriter &json, const FleetSnapshot &fleet, const FleetGpu &gpu) {
  json.key("metrics");
  json.begin_object();
  for (std::size_t i = 0; i < kFleetReadings; ++i) {
    json.key(describe(kReadingMetrics[i]).key);
    gpu.readings[i] ? json.value(rounded(*gpu.readings[i])) : json.null();
  }
  json.end_object();
  json.key("unavailable");
  json.begin_object();
  for (std::size_t i = 0; i < kFleetReadings; ++i) {
    if (gpu.readings[i]) continue;
    json.member(describe(kReadingMetrics[i]).key, why_unknown(fleet, gpu, static_cast<FleetReading>(i)));
  }
  json.end_object();
}

void write_gpu(JsonWriter &json, const FleetSnapshot &fleet, const FleetGpu &gpu) {
  json.begin_object();
  json.member("host", fleet.hosts[gpu.host].name.str());
  json.member("instance", printable(fleet.hosts[gpu.host].instance));
  json.member("id", gpu.id.str());
  json.member("uuid", printable(gpu.uuid));
  write_text(json, "parent", printable(gpu.parent));
  write_text(json, "name", gpu.name.str());
  write_text(json, "vendor", gpu.vendor.str());
  json.member("state", word(gpu.state));
  json.key("held");
  gpu.held ? json.value(*gpu.held) : json.null();
  json.key("held_but_idle");
  gpu.held ? json.value(gpu.idle) : json.null();
  write_owners(json, gpu);
  write_troubles(json, gpu);
  write_remarks(json, gpu);
  write_readings(json, fleet, gpu);
  json.end_object();
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

}  // namespace

std::string fleet_csv(const FleetSnapshot &fleet, const FleetView &view, bool has_titles) {
  const auto by = kFleetBy[static_cast<std::size_t>(view.question.by)];
  std::string out;
  if (has_titles) {
    out.append("time,").append(by).append(",kind");
    for (const auto &[name, value] : amounts_of({})) out.append(",").append(name);
    out += ",users,worst\n";
  }
  for (const auto &group : view.groups) {
    out += iso8601_utc(fleet.at) + ',';
    view::append_csv_text(out, group.name.str());
    out.append(",").append(kind_word(group.kind));
    for (const auto &[name, value] : amounts_of(group.totals)) {
      out += ',';
      JsonWriter cell(out);
      if (value) cell.value(rounded(*value));
    }
    std::string users;
    for (const auto &user : group.users) users += (users.empty() ? "" : "|") + user.str();
    out += ',';
    view::append_csv_text(out, users);
    out += ',';
    view::append_csv_text(out, group.worst.str());
    out += '\n';
  }
  return out;
}

std::string fleet_json(const FleetSnapshot &fleet, const FleetView &view, const Text &trouble) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", "gpulse.fleet/1");
  json.member("time", iso8601_utc(fleet.at));
  json.member("engine", fleet.place.str());
  json.member("by", kFleetBy[static_cast<std::size_t>(view.question.by)]);
  write_faults(json, fleet, trouble);
  json.key("totals");
  json.begin_object();
  write_amounts(json, view.totals);
  json.end_object();
  json.key("groups");
  json.begin_array();
  for (const auto &group : view.groups) write_group(json, group);
  json.end_array();
  json.key("hosts");
  json.begin_array();
  for (const auto host : view.hosts) write_host(json, fleet.hosts[host]);
  json.end_array();
  json.key("gpus");
  json.begin_array();
  for (const auto gpu : view.gpus) write_gpu(json, fleet, fleet.gpus[gpu]);
  json.end_array();
  json.end_object();
  return out + '\n';
}

}  // namespace gpulse::fleet

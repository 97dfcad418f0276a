// SPDX-License-Identifier: Apache-2.0
// A fleet for programs: comma-separated values and JSON.
#include "base/json_writer.hpp"
#include "fleet/fleet_json_parts.hpp"
#include "fleet/fleet_text.hpp"
#include "view/csv.hpp"

namespace gpulse::fleet {

namespace {

void write_owners(JsonWriter &json, const FleetGpu &gpu) {
  json.key("owners");
  json.begin_array();
  for (const auto &owner : gpu.owners) {
    json.begin_object();
    write_owner_members(json, owner);
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
  write_idle(json, gpu);
  write_owners(json, gpu);
  write_troubles(json, gpu);
  write_remarks(json, gpu);
  write_readings(json, fleet, gpu);
  json.end_object();
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
    out.append(",").append(word(group.kind));
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
  for (const auto &group : view.groups) {
    json.begin_object();
    write_group_members(json, group);
    json.end_object();
  }
  json.end_array();
  json.key("hosts");
  json.begin_array();
  for (const auto host : view.hosts) {
    json.begin_object();
    write_host_members(json, fleet.hosts[host]);
    json.end_object();
  }
  json.end_array();
  json.key("gpus");
  json.begin_array();
  for (const auto gpu : view.gpus) write_gpu(json, fleet, fleet.gpus[gpu]);
  json.end_array();
  json.end_object();
  return out + '\n';
}

}  // namespace gpulse::fleet

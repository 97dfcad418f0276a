// SPDX-License-Identifier: Apache-2.0
#include "view/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/hot_code.hpp"
#include "metric/format.hpp"
#include "view/csv.hpp"
#include "view/diagnosis.hpp"
#include "view/json_indent.hpp"

namespace gpulse::view {

namespace {

constexpr int kDigits = 3;

void write_text(JsonWriter &json, std::string_view key, std::string_view text) {
  json.key(key);
  text.empty() ? json.null() : json.value(text);
}

[[gnu::hot]] void write_reading(JsonWriter &json, MetricId id, const Reading &reading) {
  json.key(key_of(id).key);
  if (!reading) return json.null();
  switch (brief(id).kind) {
    case Kind::set:
      json.begin_array();
      for (const auto &name : value_words(describe(id), reading.value())) json.value(name);
      json.end_array();
      break;
    case Kind::state:
      json.value(value_words(describe(id), reading.value()).front());
      break;
    default:
      json.value(rounded(id, reading.value()));
  }
}

// What is written; null: everything.
using Only = const MetricSet *;

template <class Visit>
[[gnu::hot]] void for_each_wanted(Scope scope, Only only, Visit visit) {
  if (only != nullptr) return only->for_each(scope, visit);
  for_each_metric(scope, [&](MetricId id, const Metric &) { visit(id); });
}

bool wants(Only only, Scope scope) { return only == nullptr || only->contains_any(scope); }

void write_numbers(JsonWriter &json, const Row &row, Only only) {
  for_each_wanted(row.scope(), only, [&](MetricId id) {
    if (!is_text(brief(id))) write_reading(json, id, row[id]);
  });
}

[[gnu::hot]] void write_texts(JsonWriter &json, Scope scope, const TextRow *texts, Only only) {
  for_each_wanted(scope, only, [&](MetricId id) {
    if (is_text(brief(id))) write_text(json, key_of(id).key, texts == nullptr ? "" : (*texts)[id].value_or(""));
  });
}

// A text that does not exist is plainly null: most processes have no container. One that was withheld says why.
[[gnu::hot]] void write_unavailable(JsonWriter &json, const Row &row, const TextRow *texts, Only only) {
  json.key("unavailable");
  json.begin_object();
  for_each_wanted(row.scope(), only, [&](MetricId id) {
    if (!is_text(brief(id))) {
      if (!row[id]) json.member(key_of(id).key, reason_text(row[id]));
    } else if (texts != nullptr && !(*texts)[id] && (*texts)[id].reason() != Reason::not_supported) {
      json.member(key_of(id).key, text((*texts)[id].reason(), (*texts)[id].code()));
    }
  });
  json.end_object();
}

void write_row(JsonWriter &json, const Row &row, Only only) {
  write_numbers(json, row, only);
  write_unavailable(json, row, nullptr, only);
}

void write_host(JsonWriter &json, const Snapshot &snapshot, Only only) {
  json.key("host");
  json.begin_object();
  write_row(json, snapshot.host, only);
  if (only != nullptr) return json.end_object();
  json.key("cores");
  json.begin_array();
  for (const auto &core : snapshot.cores) {
    json.begin_object();
    json.member("core", core.id);
    write_row(json, core.row, only);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

const DeviceIdentity &identity_of(const Device &device) {
  static const DeviceIdentity kNobody;
  return device.identity ? *device.identity : kNobody;
}

[[gnu::cold]] void remember(JsonMemory::Part &part, const Device &device, Only only) {
  part = {.identity = device.identity, .id = device.id, .who = {}, .info = {}};
  JsonWriter who(part.who), info(part.info);
  write_device_names(who, device);
  write_texts(info, Scope::device, &identity_of(device).texts, only);
}

[[gnu::hot]] void write_device(JsonWriter &json, const Device &device, Only only, JsonMemory::Part &part) {
  if (part.id != device.id || part.identity != device.identity) remember(part, device, only);
  json.begin_object();
  json.written(part.who);
  json.member("state", word(device.state));
  json.key("metrics");
  json.begin_object();
  write_numbers(json, device.row, only);
  json.end_object();
  write_unavailable(json, device.row, &identity_of(device).texts, only);
  json.key("info");
  json.begin_object();
  json.written(part.info);
  json.end_object();
  json.end_object();
}

[[gnu::cold]] void remember_sources(JsonMemory &memory, const SharedVector<SourceStatus> &sources) {
  memory.statuses = sources;
  memory.sources.clear();
  JsonWriter json(memory.sources);
  for (const auto &source : sources) {
    json.begin_object();
    json.member("name", source.name);
    write_text(json, "problem", source.problem);
    write_text(json, "remedy", source.remedy);
    json.member("devices", source.devices);
    json.end_object();
  }
}

[[gnu::hot]] void write_sources(JsonWriter &json, const Snapshot &snapshot, JsonMemory &memory) {
  if (!memory.statuses.is_same_as(snapshot.sources)) remember_sources(memory, snapshot.sources);
  json.key("sources");
  json.begin_array();
  json.written(memory.sources);
  json.end_array();
}

void write_events(JsonWriter &json, const Snapshot &snapshot) {
  json.key("events");
  json.begin_array();
  for (const auto &event : snapshot.events) write_event_json(json, event);
  json.end_array();
}

void write_findings(JsonWriter &json, const Snapshot &snapshot, const std::vector<insight::Finding> &findings) {
  json.key("findings");
  json.begin_array();
  for (const auto &finding : findings) write_finding_json(json, finding, snapshot.time, true);
  json.end_array();
}

[[gnu::hot]] void write_compact(const Snapshot &snapshot, std::string &out, const JsonOptions &options,
                                JsonMemory &memory) {
  const auto *only = options.only;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", "gpulse/1");
  write_text(json, "time", has_time(snapshot) ? iso8601_utc(snapshot.time) : "");
  if (options.step) json.member("step", *options.step);
  write_text(json, "hostname", snapshot.hostname);
  write_text(json, "origin", snapshot.origin);
  if (wants(only, Scope::host)) write_host(json, snapshot, only);
  json.key("devices");
  json.begin_array();
  memory.devices.resize(snapshot.devices.size());
  for (std::size_t i = 0; i < snapshot.devices.size(); ++i)
    write_device(json, snapshot.devices[i], only, memory.devices[i]);
  json.end_array();
  if (options.processes && wants(only, Scope::process)) {
    json.key("processes");
    json.begin_array();
    for (const auto &process : snapshot.processes) write_process_json(json, process, only);
    json.end_array();
  }
  write_sources(json, snapshot, memory);
  if (only == nullptr) {
    if (options.events) write_events(json, snapshot);
    if (options.findings != nullptr) write_findings(json, snapshot, *options.findings);
    json.key("self");
    json.begin_object();
    write_row(json, snapshot.self, only);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

Result<MetricSet> json_fields(std::span<const std::string> fields) {
  MetricSet set;
  for (const auto &field : fields) {
    if (find_csv_identity(field)) continue;  // always there
    const auto id = find_field(field);
    if (!id) return failure("no field '" + field + "'", nearest_field(field));
    set.add(*id);
  }
  return set;
}

MetricSet needs_of_json(const MetricSet &fields) {
  auto needs = fields;
  // The list of processes comes with the memory that each uses.
  if (fields.contains_any(Scope::process)) needs.add_roles(Scope::process, {Role::memory_used});
  return needs;
}

[[gnu::hot]] double rounded(MetricId id, double value) {
  static constexpr std::array<double, 10> kPowers{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  const auto scale = kPowers.at(static_cast<std::size_t>(std::max<int>(kDigits, brief(id).precision)));
  // Beyond 2^53 / scale there are no digits left to round.
  if (std::abs(value) * scale > 9e15) return value;
  if (value == static_cast<double>(static_cast<std::int64_t>(value))) return value;
  return std::round(value * scale) / scale;
}

void write_device_names(JsonWriter &json, const Device &device) {
  const auto &identity = identity_of(device);
  json.member("id", text(device.id));
  json.member("index", device.id.index);
  json.member("vendor", identity.vendor);
  json.member("uuid", identity.uuid);
  write_text(json, "pci", identity.pci);
  json.member("name", identity.name);
  write_text(json, "driver", identity.driver);
  write_text(json, "parent", identity.parent);
  json.key("mig");
  device.id.instance ? json.value(*device.id.instance) : json.null();
  write_text(json, "label", identity.label);
}

void write_device_info(JsonWriter &json, const Device &device) {
  json.key("info");
  json.begin_object();
  write_texts(json, Scope::device, &identity_of(device).texts, nullptr);
  json.end_object();
}

void write_event_json(JsonWriter &json, const Event &event) {
  json.begin_object();
  json.member("time", iso8601_utc(event.time));
  write_text(json, "device", event.device);
  json.member("kind", word(event.kind));
  static constexpr std::array<std::string_view, 3> kSeverities{"note", "warning", "critical"};
  json.member("severity", kSeverities[static_cast<std::size_t>(severity(event.kind))]);
  json.member("code", event.code);
  json.member("text", event.text);
  json.end_object();
}

void write_process_json(JsonWriter &json, const Process &process, const MetricSet *only) {
  json.begin_object();
  json.member("pid", process.pid);
  json.member("device", process.device.index);
  json.member("device_id", text(process.device));
  json.member("type", type_word(process.types));
  json.member("state", process.foreign ? "host pid" : process.gone ? "gone" : "ok");
  write_texts(json, Scope::process, process.texts.get(), only);
  write_numbers(json, process.row, only);
  write_unavailable(json, process.row, process.texts.get(), only);
  json.end_object();
}

[[gnu::hot]] void write_json(const Snapshot &snapshot, std::string &out, const JsonOptions &options) {
  fetch_hot_code(HotCode::json);
  if (options.memory != nullptr && !options.pretty) return write_compact(snapshot, out, options, *options.memory);
  JsonMemory nothing;
  auto &known = options.memory != nullptr ? *options.memory : nothing;
  if (!options.pretty) return write_compact(snapshot, out, options, known);
  std::string compact;
  write_compact(snapshot, compact, options, known);
  out += indent_json(compact);
}

}  // namespace gpulse::view

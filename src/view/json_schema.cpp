// SPDX-License-Identifier: Apache-2.0
#include "view/json_schema.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "insight/catalogue.hpp"
#include "metric/table.hpp"
#include "view/json_indent.hpp"
#include "view/schema_writer.hpp"

namespace gpulse::view {

namespace {

using Keys = std::vector<std::string_view>;

constexpr std::string_view kTimePattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$";

// A word of the table, or what stands for a value the table has no word for.
template <class Words>
void word_or(SchemaWriter &schema, const Words &words, std::string_view pattern, bool or_null) {
  auto &json = schema.json();
  json.key("anyOf");
  json.begin_array();
  json.begin_object();
  schema.one_of(words, or_null);
  json.end_object();
  json.begin_object();
  json.member("type", "string");
  json.member("pattern", pattern);
  json.end_object();
  json.end_array();
}

void metric(SchemaWriter &schema, const Metric &metric) {
  auto &json = schema.json();
  const auto content = [&] {
    json.member("description", metric.help);
    switch (metric.kind) {
      case Kind::text:
        schema.nullable("string");
        break;
      case Kind::state:
        word_or(schema, metric.words, "^-?[0-9]+$", true);
        break;
      case Kind::set:
        schema.nullable("array");
        json.key("items");
        json.begin_object();
        word_or(schema, metric.words, "^bit [0-9]+$", false);
        json.end_object();
        break;
      default:
        schema.nullable("number");
    }
  };
  schema.member(metric.key, content, false);
}

void unavailable(SchemaWriter &schema, Scope scope) {
  auto &json = schema.json();
  schema.member("unavailable", [&] {
    json.member("description", "why a value is null");
    json.member("type", "object");
    json.key("propertyNames");
    json.begin_object();
    Keys keys;
    for_each_metric(scope, [&](MetricId, const Metric &row) { keys.push_back(row.key); });
    schema.one_of(keys);
    json.end_object();
    json.key("additionalProperties");
    json.begin_object();
    json.member("type", "string");
    json.end_object();
  });
}

void row_members(SchemaWriter &schema, Scope scope) {
  write_metric_schemas(schema, scope, false);
  unavailable(schema, scope);
}

void host_members(SchemaWriter &schema) {
  row_members(schema, Scope::host);
  schema.list("cores", "core", false);
}

void core_members(SchemaWriter &schema) {
  schema.plain("core", "integer");
  row_members(schema, Scope::core);
}

void device_members(SchemaWriter &schema) {
  write_device_names_schema(schema);
  write_device_state_schema(schema);
  schema.member("metrics", [&] { schema.object([&] { write_metric_schemas(schema, Scope::device, false); }); });
  unavailable(schema, Scope::device);
  schema.member("info", [&] { schema.object([&] { write_metric_schemas(schema, Scope::device, true); }); });
}

void process_members(SchemaWriter &schema) {
  static constexpr std::array<std::string_view, 3> kStates{"ok", "gone", "host pid"};
  schema.plain("pid", "integer");
  schema.plain("device", "integer");
  schema.plain("device_id", "string");
  schema.plain("type", "string");
  schema.member("state", [&] { schema.one_of(kStates); });
  write_metric_schemas(schema, Scope::process, true);
  write_metric_schemas(schema, Scope::process, false);
  unavailable(schema, Scope::process);
}

}  // namespace

void write_device_names_schema(SchemaWriter &schema) {
  schema.plain("id", "string");
  schema.plain("index", "integer");
  schema.plain("vendor", "string");
  schema.plain("uuid", "string");
  schema.optional("pci", "string");
  schema.plain("name", "string");
  schema.optional("driver", "string");
  schema.optional("parent", "string");
  schema.optional("mig", "integer");
  schema.optional("label", "string");
}

void write_device_state_schema(SchemaWriter &schema) {
  static constexpr std::array<std::string_view, 4> kStates{"ok", "asleep", "lost", "not responding"};
  schema.member("state", [&] { schema.one_of(kStates); });
}

void write_metric_schemas(SchemaWriter &schema, Scope scope, bool texts) {
  for_each_metric(scope, [&](MetricId, const Metric &row) {
    if (is_text(row) == texts) metric(schema, row);
  });
}

void write_finding_schema(SchemaWriter &schema) {
  static constexpr std::array<std::string_view, 3> kSeverities{"ok", "note", "problem"};
  auto &json = schema.json();
  const auto list_of = [&](std::string_view name, std::string_view type) {
    schema.member(name, [&] {
      json.member("type", "array");
      json.key("items");
      json.begin_object();
      json.member("type", type);
      json.end_object();
    });
  };
  Keys words;
  for (const auto &kind : insight::finding_kinds()) words.push_back(kind.word);
  schema.member("id", [&] { schema.one_of(words); });
  schema.member("severity", [&] { schema.one_of(kSeverities); });
  const auto told = [&](std::string_view name, std::string_view type, std::string_view description) {
    schema.member(name, [&] {
      json.member("description", description);
      schema.nullable(type);
    });
  };
  told("confidence", "number", "from 0 to 1; null: not told, as by a metrics engine");
  schema.plain("estimated", "boolean");
  list_of("devices", "string");
  list_of("pids", "integer");
  told("since", "string", "null: not known, as of a host that only a metrics engine tells of");
  told("since_seconds", "number", "from the sample's time, so that the past is negative");
  schema.plain("until_seconds", "number");
  schema.optional("lost_share", "number");
  schema.plain("text", "string");
  schema.member("evidence", [&] {
    json.member("type", "object");
    json.key("additionalProperties");
    json.begin_object();
    json.member("type", "number");
    json.end_object();
  });
  list_of("advice", "string");
  schema.plain("explain", "string");
}

void write_snapshot_definitions(SchemaWriter &schema) {
  schema.member("host", [&] { schema.object([&] { host_members(schema); }); });
  schema.member("core", [&] { schema.object([&] { core_members(schema); }); });
  schema.member("self", [&] { schema.object([&] { row_members(schema, Scope::self); }); });
  schema.member("device", [&] { schema.object([&] { device_members(schema); }); });
  schema.member("process", [&] { schema.object([&] { process_members(schema); }); });
  schema.member("source", [&] {
    schema.object([&] {
      schema.plain("name", "string");
      schema.optional("problem", "string");
      schema.optional("remedy", "string");
      schema.plain("devices", "integer");
    });
  });
  schema.member("event", [&] {
    schema.object([&] {
      schema.reference("time", "time");
      schema.optional("device", "string");
      schema.plain("kind", "string");
      schema.plain("severity", "string");
      schema.plain("code", "integer");
      schema.plain("text", "string");
    });
  });
  schema.member("finding", [&] { schema.object([&] { write_finding_schema(schema); }); });
  schema.member("time", [&] {
    schema.json().member("type", "string");
    schema.json().member("pattern", kTimePattern);
  });
}

void write_snapshot_members(SchemaWriter &schema) {
  schema.member("schema", [&] { schema.json().member("const", "gpulse/1"); });
  schema.member("time", [&] {
    schema.nullable("string");
    schema.json().member("pattern", kTimePattern);
  });
  schema.member("step", [&] { schema.json().member("type", "integer"); }, false);
  schema.optional("hostname", "string");
  schema.optional("origin", "string");
  schema.reference("host", "host", false);
  schema.list("devices", "device");
  schema.list("processes", "process", false);
  schema.list("sources", "source");
  schema.list("events", "event", false);
  schema.list("findings", "finding", false);
  schema.reference("self", "self", false);
}

std::string json_schema() {
  std::string compact;
  SchemaWriter schema(compact, "#/$defs/");
  auto &json = schema.json();
  json.begin_object();
  json.member("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.member("$id", "gpulse-1.schema.json");
  json.member("title", "A snapshot of gpulse, version 1");
  schema.object([&] { write_snapshot_members(schema); });
  json.key("$defs");
  json.begin_object();
  write_snapshot_definitions(schema);
  json.end_object();
  json.end_object();
  return indent_json(compact);
}

}  // namespace gpulse::view

// SPDX-License-Identifier: Apache-2.0
#include "view/json_schema.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "insight/catalogue.hpp"
#include "metric/table.hpp"
#include "view/json_indent.hpp"

namespace gpulse::view {

namespace {

constexpr std::string_view kTimePattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$";

using Keys = std::vector<std::string_view>;

// Every object is closed: what is not there is null. Only what --fields can leave out is not required.
class SchemaWriter {
 public:
  explicit SchemaWriter(std::string &out) : json_(out) {}

  JsonWriter &json() { return json_; }

  template <class Members>
  void object(Members members) {
    json_.member("type", "object");
    json_.member("additionalProperties", false);
    json_.key("properties");
    json_.begin_object();
    Keys outer = std::move(keys_);
    keys_.clear();
    members();
    json_.end_object();
    json_.key("required");
    json_.begin_array();
    for (const auto key : keys_) json_.value(key);
    json_.end_array();
    keys_ = std::move(outer);
  }

  template <class Content>
  void member(std::string_view key, Content content, bool required = true) {
    if (required) keys_.push_back(key);
    json_.key(key);
    json_.begin_object();
    content();
    json_.end_object();
  }
  void plain(std::string_view key, std::string_view type) {
    member(key, [&] { json_.member("type", type); });
  }
  void optional(std::string_view key, std::string_view type) {
    member(key, [&] { nullable(type); });
  }
  void nullable(std::string_view type) {
    json_.key("type");
    json_.begin_array();
    json_.value(type);
    json_.value("null");
    json_.end_array();
  }
  template <class Words>
  void one_of(const Words &words, bool or_null = false) {
    json_.key("enum");
    json_.begin_array();
    for (const auto name : words) json_.value(std::string_view(name));
    if (or_null) json_.null();
    json_.end_array();
  }
  void reference(std::string_view key, std::string_view definition, bool required = true) {
    member(key, [&] { point_to(definition); }, required);
  }
  void list(std::string_view key, std::string_view definition, bool required = true) {
    const auto content = [&] {
      json_.member("type", "array");
      json_.key("items");
      json_.begin_object();
      point_to(definition);
      json_.end_object();
    };
    member(key, content, required);
  }
  void point_to(std::string_view definition) { json_.member("$ref", "#/$defs/" + std::string(definition)); }

 private:
  JsonWriter json_;
  Keys keys_;
};

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

void metrics(SchemaWriter &schema, Scope scope, bool texts) {
  for_each_metric(scope, [&](MetricId, const Metric &row) {
    if (is_text(row) == texts) metric(schema, row);
  });
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
  metrics(schema, scope, false);
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
  static constexpr std::array<std::string_view, 4> kStates{"ok", "asleep", "lost", "not responding"};
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
  schema.member("state", [&] { schema.one_of(kStates); });
  schema.member("metrics", [&] { schema.object([&] { metrics(schema, Scope::device, false); }); });
  unavailable(schema, Scope::device);
  schema.member("info", [&] { schema.object([&] { metrics(schema, Scope::device, true); }); });
}

void process_members(SchemaWriter &schema) {
  static constexpr std::array<std::string_view, 3> kStates{"ok", "gone", "host pid"};
  schema.plain("pid", "integer");
  schema.plain("device", "integer");
  schema.plain("device_id", "string");
  schema.plain("type", "string");
  schema.member("state", [&] { schema.one_of(kStates); });
  metrics(schema, Scope::process, true);
  metrics(schema, Scope::process, false);
  unavailable(schema, Scope::process);
}

void finding_members(SchemaWriter &schema) {
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
  schema.plain("confidence", "number");
  schema.plain("estimated", "boolean");
  list_of("devices", "string");
  list_of("pids", "integer");
  schema.reference("since", "time");
  schema.member("since_seconds", [&] {
    json.member("description", "from the sample's time, so that the past is negative");
    json.member("type", "number");
  });
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

void definitions(SchemaWriter &schema) {
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
      schema.plain("code", "integer");
      schema.plain("text", "string");
    });
  });
  schema.member("finding", [&] { schema.object([&] { finding_members(schema); }); });
  schema.member("time", [&] {
    schema.json().member("type", "string");
    schema.json().member("pattern", kTimePattern);
  });
}

void top_members(SchemaWriter &schema) {
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

}  // namespace

std::string json_schema() {
  std::string compact;
  SchemaWriter schema(compact);
  auto &json = schema.json();
  json.begin_object();
  json.member("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.member("$id", "gpulse-1.schema.json");
  json.member("title", "A snapshot of gpulse, version 1");
  schema.object([&] { top_members(schema); });
  json.key("$defs");
  json.begin_object();
  definitions(schema);
  json.end_object();
  json.end_object();
  return indent_json(compact);
}

}  // namespace gpulse::view

// SPDX-License-Identifier: Apache-2.0
#include "serve/openapi_fleet.hpp"

#include <array>
#include <string_view>

namespace gpulse::serve {

namespace {

void nullable(view::SchemaWriter &schema, std::string_view key, std::string_view type, std::string_view description) {
  schema.member(key, [&] {
    schema.nullable(type);
    schema.json().member("description", description);
  });
}

// An array of what `items` writes.
template <class Items>
void array(view::SchemaWriter &schema, std::string_view key, std::string_view description, Items items) {
  schema.member(key, [&] {
    auto &json = schema.json();
    json.member("type", "array");
    if (!description.empty()) json.member("description", description);
    json.key("items");
    json.begin_object();
    items();
    json.end_object();
  });
}

void plain_array(view::SchemaWriter &schema, std::string_view key, std::string_view type,
                 std::string_view description) {
  array(schema, key, description, [&] { schema.json().member("type", type); });
}

void nullable_array(view::SchemaWriter &schema, std::string_view key, std::string_view type,
                    std::string_view description) {
  array(schema, key, description, [&] { schema.nullable(type); });
}

// A list for each GPU.
void lists(view::SchemaWriter &schema, std::string_view key, std::string_view type, std::string_view description) {
  array(schema, key, description, [&] {
    auto &json = schema.json();
    json.member("type", "array");
    json.key("items");
    json.begin_object();
    json.member("type", type);
    json.end_object();
  });
}

// What docs/fleet.md has of them.
void amounts(view::SchemaWriter &schema) {
  for (const auto *const name : {"silent_hosts", "held_known", "silent", "true_activity_known", "state_known",
                                 "findings_known", "driver_errors_known"}) {
    schema.plain(name, "integer");
  }
  for (const auto *const name : {"held", "held_but_idle", "lost", "not_responding", "gone", "asleep",
                                 "with_driver_errors", "with_problems", "with_notes", "with_remarks"}) {
    schema.optional(name, "integer");
  }
  for (const auto *const name : {"utilization_percent", "true_activity_percent", "memory_used_percent", "power_watts",
                                 "hottest_celsius", "wasted_gpus"}) {
    schema.optional(name, "number");
  }
}

void totals(view::SchemaWriter &schema) {
  schema.plain("hosts", "integer");
  schema.plain("gpus", "integer");
  amounts(schema);
}

void host_names(view::SchemaWriter &schema) {
  schema.described("key", "string", "what it is called in an address: /host/KEY/");
  schema.plain("name", "string");
  schema.plain("instance", "string");
  schema.optional("cluster", "string");
  schema.plain("exporter", "string");
}

void host(view::SchemaWriter &schema) {
  host_names(schema);
  schema.optional("last_sample", "string");
  schema.described("silent", "boolean", "nothing comes from it any more");
  nullable(schema, "silent_seconds", "number", "null: it is not silent, or nobody knows since when");
}

void about(view::SchemaWriter &schema) {
  static constexpr std::array<std::string_view, 3> kKinds{"machine", "fleet", "host"};
  schema.member("schema", [&] { schema.json().member("const", "gpulse-about/1"); });
  schema.plain("version", "string");
  schema.member("kind", [&] { schema.one_of(kKinds); });
  schema.member("engine", [&] { schema.json().member("type", "string"); }, false);
  schema.member("interval_seconds", [&] { schema.json().member("type", "number"); }, false);
  schema.member("host", [&] { schema.object([&] { host_names(schema); }); }, false);
  schema.member(
      "trouble",
      [&] {
        schema.nullable("string");
        schema.json().member("description", "of a host: why there is no newer sample; null: there is");
      },
      false);
  schema.member(
      "fleet",
      [&] {
        schema.json().member("type", "string");
        schema.json().member("description", "the way to the overview, from the folder of the host");
      },
      false);
}

void faults(view::SchemaWriter &schema) {
  array(schema, "faults", "questions that failed", [&] {
    schema.object([&] {
      schema.plain("what", "string");
      schema.plain("why", "string");
      nullable(schema, "as_of", "string", "of the answer that stands in for it");
    });
  });
}

void group(view::SchemaWriter &schema) {
  static constexpr std::array<std::string_view, 3> kKinds{"named", "nobody", "unknown"};
  schema.member("kind", [&] { schema.one_of(kKinds); });
  schema.optional("name", "string");
  amounts(schema);
  plain_array(schema, "users", "string", "who holds them");
  schema.optional("worst", "string");
  schema.described("severity", "integer", "0 well, 1 note, 2 problem, 3 broken");
  plain_array(schema, "gpus", "integer", "rows of gpus, without instances");
  plain_array(schema, "hosts", "integer", "rows of hosts");
}

void gpus(view::SchemaWriter &schema) {
  auto &json = schema.json();
  plain_array(schema, "host", "integer", "row of hosts");
  plain_array(schema, "id", "string", "");
  plain_array(schema, "uuid", "string", "");
  nullable_array(schema, "parent", "integer", "row of the GPU that it is an instance of");
  nullable_array(schema, "model", "integer", "row of models");
  plain_array(schema, "vendor", "string", "");
  plain_array(schema, "state", "string", "ok, asleep, silent, gone, not responding or lost");
  nullable_array(schema, "held", "boolean", "null: nobody tells");
  nullable_array(schema, "idle", "boolean", "held, and hardly used for a quarter of an hour; null: not known");
  lists(schema, "owners", "integer", "rows of owners");
  lists(schema, "findings", "integer", "rows of findings");
  lists(schema, "xids", "integer", "errors of the driver in the last quarter of an hour");
  lists(schema, "remarks", "string", "what tells it from its sisters");
  schema.member("metrics", [&] {
    json.member("type", "object");
    json.member("description", "by key of the metrics table; null: its state says why, or its host does not tell it");
    json.key("additionalProperties");
    json.begin_object();
    json.member("type", "array");
    json.key("items");
    json.begin_object();
    schema.nullable("number");
    json.end_object();
    json.end_object();
  });
}

void fleet(view::SchemaWriter &schema) {
  schema.member("schema", [&] { schema.json().member("const", "gpulse-fleet/1"); });
  schema.reference("time", "time");
  schema.plain("engine", "string");
  schema.plain("interval_seconds", "number");
  schema.described("is_past", "boolean", "of a moment that was asked for");
  nullable(schema, "trouble", "string", "why there is nothing newer than time");
  nullable(schema, "warning", "string", "what is missing, in the engine's words");
  faults(schema);
  schema.plain("by", "string");
  schema.plain("sort", "string");
  schema.member("totals", [&] { schema.object([&] { totals(schema); }); });
  array(schema, "hosts", "that fit the filters", [&] { schema.object([&] { host(schema); }); });
  array(schema, "groups", "", [&] { schema.object([&] { group(schema); }); });
  schema.member("gpus", [&] { schema.object([&] { gpus(schema); }); });
  plain_array(schema, "models", "string", "");
  array(schema, "owners", "", [&] {
    schema.object([&] {
      for (const auto *const key : {"user", "batch_job", "batch_account", "pod"}) schema.optional(key, "string");
    });
  });
  array(schema, "findings", "kinds that occur", [&] {
    schema.object([&] {
      for (const auto *const key : {"id", "severity", "title"}) schema.plain(key, "string");
    });
  });
}

void curves(view::SchemaWriter &schema) {
  schema.member("schema", [&] { schema.json().member("const", "gpulse-fleet-curves/1"); });
  schema.described("start_seconds", "integer", "Unix seconds of the first moment");
  schema.described("step_seconds", "integer", "from one moment to the next");
  schema.described("count", "integer", "moments, and so the length of every array");
  schema.described("only_agents", "boolean", "true: hosts that only other exporters tell of are in no curve");
  array(schema, "series", "", [&] {
    schema.object([&] {
      schema.described("name", "string", "a key of the metrics table: its mean, of power the sum; held and gpus count");
      schema.plain("unit", "string");
      nullable_array(schema, "value", "number", "null: nothing is known");
    });
  });
}

}  // namespace

void write_fleet_schemas(view::SchemaWriter &schema) {
  const auto whole = [&](std::string_view name, void (*members)(view::SchemaWriter &)) {
    schema.member(name, [&] { schema.object([&] { members(schema); }); });
  };
  whole("about", about);
  whole("fleet", fleet);
  whole("fleet_curves", curves);
}

}  // namespace gpulse::serve

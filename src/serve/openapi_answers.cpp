// SPDX-License-Identifier: Apache-2.0
#include "serve/openapi_answers.hpp"

#include <array>
#include <initializer_list>
#include <string>

#include "insight/catalogue.hpp"
#include "metric/table.hpp"
#include "serve/openapi_fleet.hpp"

namespace gpulse::serve {

namespace {

using Names = std::initializer_list<std::string_view>;

void head(view::SchemaWriter &schema, std::string_view name) {
  schema.member("schema", [&] { schema.json().member("const", name); });
  schema.optional("hostname", "string");
}

void span(view::SchemaWriter &schema) {
  schema.reference("from", "time");
  schema.reference("to", "time");
}

// An array of what `items` writes.
template <class Items>
void array(view::SchemaWriter &schema, std::string_view key, Items items, bool required = true) {
  schema.member(
      key,
      [&] {
        schema.json().member("type", "array");
        schema.json().key("items");
        schema.json().begin_object();
        items();
        schema.json().end_object();
      },
      required);
}

void strings(view::SchemaWriter &schema, std::string_view key) {
  array(schema, key, [&] { schema.json().member("type", "string"); });
}

void devices(view::SchemaWriter &schema) {
  head(schema, "gpulse-devices/1");
  schema.reference("time", "time");
  const auto device = [&] {
    write_device_names_schema(schema);
    write_device_state_schema(schema);
    schema.described("state_seconds", "number", "for how long it has been in a state other than ok");
    schema.member("info", [&] { schema.object([&] { write_metric_schemas(schema, Scope::device, true); }); });
  };
  array(schema, "devices", [&] { schema.object(device); });
}

void series(view::SchemaWriter &schema) {
  const auto numbers = [&](std::string_view key, std::string_view description, bool required) {
    schema.member(
        key,
        [&] {
          auto &json = schema.json();
          json.member("type", "array");
          json.member("description", description);
          json.key("items");
          json.begin_object();
          schema.nullable("number");
          json.end_object();
        },
        required);
  };
  schema.plain("metric", "string");
  schema.member("device", [&] {
    schema.nullable("string");
    schema.json().member("description", "its UUID; null: of the host");
  });
  static constexpr std::array<std::string_view, 5> kFolds{"mean", "maximum", "last", "counter", "any"};
  schema.member("fold", [&] {
    schema.one_of(kFolds);
    schema.json().member("description",
                         "how the values of a step became one; counter: what it grew by; any: the bits of all");
  });
  numbers("value", "one per step; null: nothing is known", true);
  numbers("min", "left out where it is the value itself everywhere", false);
  numbers("max", "left out where it is the value itself everywhere", false);
}

void history(view::SchemaWriter &schema) {
  auto &json = schema.json();
  head(schema, "gpulse-history/1");
  span(schema);
  schema.member("kept", [&] {
    json.member("description", "what the history reaches over");
    json.key("anyOf");
    json.begin_array();
    json.begin_object();
    schema.object([&] { span(schema); });
    json.end_object();
    json.begin_object();
    json.member("type", "null");
    json.end_object();
    json.end_array();
  });
  const auto device = [&] {
    write_device_names_schema(schema);
    schema.reference("first", "time");
    schema.reference("last", "time");
  };
  array(schema, "devices", [&] { schema.object(device); });
  schema.member("words", [&] {
    json.member("type", "object");
    json.member("description", "of metrics that are a state or a set: the word of each number, or of each bit");
    json.key("additionalProperties");
    json.begin_object();
    json.member("type", "array");
    json.key("items");
    json.begin_object();
    json.member("type", "string");
    json.end_object();
    json.end_object();
  });
  static constexpr std::array<std::string_view, 4> kTiers{"1 s", "10 s", "1 min", "engine"};
  schema.member("tier", [&] {
    schema.one_of(kTiers);
    json.member("description", "what the curves were read from");
  });
  schema.described("start_seconds", "integer", "Unix seconds at which the first step begins");
  schema.described("step_seconds", "integer", "length of a step");
  schema.described("count", "integer", "steps, and so the length of every array");
  array(schema, "series", [&] { schema.object([&] { series(schema); }); });
  const auto loss = [&] {
    span(schema);
    schema.plain("samples", "integer");
    schema.plain("reason", "string");
  };
  array(schema, "lost", [&] { schema.object(loss); });
}

void past_process(view::SchemaWriter &schema, std::vector<std::string> &maxima) {
  schema.plain("id", "string");
  schema.plain("uuid", "string");
  schema.plain("pid", "integer");
  schema.plain("type", "string");
  write_metric_schemas(schema, Scope::process, true);
  schema.reference("first", "time");
  schema.reference("last", "time");
  schema.described("seconds", "number", "that it was there within the span");
  schema.optional("gpu_seconds", "number");
  // The keys must outlive the schema's list of them.
  maxima.reserve(kMetricCount);
  for_each_metric(Scope::process, [&](MetricId, const Metric &metric) {
    const auto what = kept(metric);
    if (what == Kept::fold || what == Kept::range) schema.optional(metric.key, "number");
    if (what == Kept::range) schema.optional(maxima.emplace_back(std::string(metric.key) + "_max"), "number");
  });
}

// Of a host of a fleet.
void not_told(view::SchemaWriter &schema) {
  schema.member(
      "unavailable",
      [&] {
        schema.json().member("type", "string");
        schema.json().member("description", "why there are none: a metrics engine keeps no processes");
      },
      false);
}

// Who held a device, in place of the processes.
void owner(view::SchemaWriter &schema) {
  schema.described("device", "string", "its UUID");
  for (const auto *const key : {"user", "batch_job", "batch_account", "pod"}) schema.optional(key, "string");
  const auto time = [&](std::string_view key, std::string_view description) {
    schema.member(key, [&] {
      schema.nullable("string");
      schema.json().member("description", description);
    });
  };
  time("begin", "null: before the span");
  time("end", "null: after the span");
}

void processes(view::SchemaWriter &schema) {
  schema.member("processes_now", [&] {
    schema.object([&] {
      head(schema, "gpulse-processes/1");
      schema.reference("time", "time");
      schema.list("processes", "process");
    });
  });
  std::vector<std::string> maxima;
  schema.member("processes_then", [&] {
    schema.object([&] {
      head(schema, "gpulse-processes/1");
      span(schema);
      array(schema, "processes", [&] { schema.object([&] { past_process(schema, maxima); }); });
      array(schema, "owners", [&] { schema.object([&] { owner(schema); }); }, false);
      not_told(schema);
    });
  });
  const auto total = [&] {
    for (const auto role : {Role::user, Role::job}) {
      const auto owner = find_role(Scope::process, role);
      if (owner) schema.member(key_of(*owner).key, [&] { schema.nullable("string"); }, false);
    }
    schema.plain("processes", "integer");
    schema.plain("devices", "integer");
    schema.plain("seconds", "number");
    schema.optional("gpu_seconds", "number");
    schema.optional("memory_byte_seconds", "number");
  };
  schema.member("process_totals", [&] {
    schema.object([&] {
      head(schema, "gpulse-processes/1");
      span(schema);
      array(schema, "totals", [&] { schema.object(total); });
      not_told(schema);
    });
  });
}

void events(view::SchemaWriter &schema) {
  schema.member("events_now", [&] {
    schema.object([&] {
      head(schema, "gpulse-events/1");
      schema.reference("time", "time");
      schema.list("events", "event");
    });
  });
  schema.member("events_then", [&] {
    schema.object([&] {
      head(schema, "gpulse-events/1");
      span(schema);
      schema.list("events", "event");
    });
  });
}

void findings(view::SchemaWriter &schema) {
  schema.member("lasting_finding", [&] {
    schema.object([&] {
      schema.described("number", "integer", "the same while it lasts");
      schema.plain("title", "string");
      schema.described("cost", "string", "in words; empty: none");
      write_finding_schema(schema);
    });
  });
  schema.member("findings_now", [&] {
    schema.object([&] {
      head(schema, "gpulse-findings/1");
      schema.reference("time", "time");
      schema.list("findings", "lasting_finding");
    });
  });
  const auto time = [&](std::string_view key, std::string_view description) {
    schema.member(key, [&] {
      schema.nullable("string");
      schema.json().member("description", description);
    });
  };
  const auto one = [&] {
    schema.plain("number", "integer");
    schema.plain("id", "string");
    schema.plain("title", "string");
    schema.optional("device", "string");
    time("begin", "null: before what is known");
    time("end", "null: it lasts, or the agent ended before it did");
    schema.plain("lasts", "boolean");
    schema.plain("text", "string");
  };
  schema.member("findings_then", [&] {
    schema.object([&] {
      head(schema, "gpulse-findings/1");
      span(schema);
      array(schema, "spans", [&] { schema.object(one); });
    });
  });
}

void metric_row(view::SchemaWriter &schema) {
  for (const auto *const key : {"key", "scope", "kind", "window", "fold", "kept", "group", "label", "help", "meaning"})
    schema.plain(key, "string");
  for (const auto *const key : {"unit", "symbol", "role", "nvidia_smi", "prometheus"}) schema.optional(key, "string");
  for (const auto *const key : {"precision", "rank"}) schema.plain(key, "integer");
  for (const auto *const key : {"warn", "bad"}) schema.optional(key, "number");
  for (const auto *const key : {"words", "calm", "grave"}) strings(schema, key);
}

void finding_row(view::SchemaWriter &schema) {
  for (const auto *const key : {"id", "title", "meaning", "told", "confirm"}) schema.plain(key, "string");
  for (const auto *const key : {"aliases", "fix", "see_also"}) strings(schema, key);
  schema.optional("helped", "string");
}

void metrics_table(view::SchemaWriter &schema) {
  schema.member("schema", [&] { schema.json().member("const", "gpulse-metrics/1"); });
  array(schema, "metrics", [&] { schema.object([&] { metric_row(schema); }); });
  array(schema, "findings", [&] { schema.object([&] { finding_row(schema); }); });
  array(schema, "remarks", [&] { schema.object([&] { finding_row(schema); }); });
}

// What the stream says first.
void hello(view::SchemaWriter &schema) {
  schema.member("schema", [&] { schema.json().member("const", "gpulse-stream/1"); });
  schema.plain("version", "string");
  schema.optional("hostname", "string");
  schema.described("interval_seconds", "number", "between two samples");
  schema.member("time", [&] {
    schema.json().member("type", "string");
    schema.json().member("description", "of the newest sample");
  });
  schema.member("age_seconds", [&] {
    schema.nullable("number");
    schema.json().member("description", "how old that is by the server's clock; null: of a recording");
  });
  schema.member("missed_from", [&] {
    schema.nullable("string");
    schema.json().member("description",
                         "of a client that comes back: ask /api/v1/history for what was from here on; "
                         "null: the samples that it missed follow");
  });
}

void error(view::SchemaWriter &schema) {
  schema.member("error", [&] {
    schema.object([&] {
      schema.plain("message", "string");
      schema.member(
          "field",
          [&] {
            schema.json().member("type", "string");
            schema.json().member("description", "the parameter that is to blame");
          },
          false);
    });
  });
}

}  // namespace

void write_answer_schemas(view::SchemaWriter &schema) {
  const auto whole = [&](std::string_view name, void (*members)(view::SchemaWriter &)) {
    schema.member(name, [&] { schema.object([&] { members(schema); }); });
  };
  write_snapshot_definitions(schema);
  whole("snapshot", view::write_snapshot_members);
  whole("devices", devices);
  whole("history", history);
  processes(schema);
  events(schema);
  findings(schema);
  whole("metrics_table", metrics_table);
  whole("hello", hello);
  write_fleet_schemas(schema);
  whole("error", error);
}

}  // namespace gpulse::serve

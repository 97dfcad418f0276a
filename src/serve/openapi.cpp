// SPDX-License-Identifier: Apache-2.0
#include "serve/openapi.hpp"

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

#include "metric/table.hpp"
#include "serve/openapi_answers.hpp"
#include "view/csv.hpp"
#include "view/json_indent.hpp"

namespace gpulse::serve {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSchemas = "#/components/schemas/";
constexpr std::size_t kMost = 7;

struct Route {
  std::string_view path, id, summary, description;
  std::array<std::string_view, kMost> parameters;  // the first empty one ends them
  std::array<std::string_view, 3> answers;         // schemas, the same
  bool is_lasting = false;                         // has an ETag
};

constexpr std::array kRoutes{
    Route{
        "/api/v1/snapshot"sv,
        "snapshot"sv,
        "The newest sample"sv,
        "What `gpulse --json` prints. With `metrics` it has these alone, and no host, processes, events and findings "
        "unless they are named. The header X-Gpulse-Sample-Age says how many seconds old the sample is by the server's "
        "clock; a recording has none."sv,
        {"metrics"sv, "devices"sv, "processes"sv},
        {"snapshot"sv}},
    Route{"/api/v1/devices"sv,
          "devices"sv,
          "Which devices there are, and how they are"sv,
          ""sv,
          {"devices"sv},
          {"devices"sv}},
    Route{"/api/v1/history"sv,
          "history"sv,
          "Curves over a stretch of time"sv,
          "All series lie on one axis of time: step i begins at start_seconds + i * step_seconds. Give `step`, or "
          "`points` for about so many of them; the step is a whole number of those of the tier that is read. An answer "
          "whose span is over has an ETag and may be kept."sv,
          {"curves"sv, "devices"sv, "from"sv, "to"sv, "since"sv, "step"sv, "points"sv},
          {"history"sv},
          true},
    Route{"/api/v1/processes"sv,
          "processes"sv,
          "Who is on the GPUs, or was there in a span"sv,
          "Without a span those of now; with one those that were there, the most GPU time first; with `by` sums."sv,
          {"devices"sv, "from"sv, "to"sv, "since"sv, "by"sv},
          {"processes_now"sv, "processes_then"sv, "process_totals"sv}},
    Route{"/api/v1/events"sv,
          "events"sv,
          "What happened"sv,
          "Without a span the last ones. Findings begin and end as events too."sv,
          {"devices"sv, "from"sv, "to"sv, "since"sv},
          {"events_now"sv, "events_then"sv}},
    Route{"/api/v1/findings"sv,
          "findings"sv,
          "What is found to be wrong, or was in a span"sv,
          "Without a span those that last, with evidence, advice and cost; with one when each began and ended, as the "
          "events of the history tell it."sv,
          {"devices"sv, "from"sv, "to"sv, "since"sv},
          {"findings_now"sv, "findings_then"sv}},
    Route{"/api/v1/about"sv,
          "about"sv,
          "What this server shows"sv,
          "An agent shows a machine, `gpulse serve --fleet` a fleet. Below /host/KEY/ a fleet's server has all of this "
          "of "
          "one host, made from the engine; what needs processes of the past is empty there and says so."sv,
          {},
          {"about"sv},
          true},
    Route{"/api/v1/fleet"sv,
          "fleet"sv,
          "All hosts that the engine knows"sv,
          "Only of `gpulse serve --fleet`. GPUs are columns of equal length; instances follow their GPU. 503 where the "
          "engine has not answered for three seconds: the question goes on, so ask again. The header "
          "X-Gpulse-Asking-Seconds "
          "says for how long the engine has not answered what will be shown next, with 304 too."sv,
          {"fleet_by"sv, "sort"sv, "filter"sv, "at"sv},
          {"fleet"sv},
          true},
    Route{"/api/v1/fleet/curves"sv,
          "fleet_curves"sv,
          "Curves of the whole fleet, or of what fits the filters"sv,
          "Only of `gpulse serve --fleet`, from the agents' own series. Filters are taken at each moment; `by` and "
          "`sort` change nothing."sv,
          {"fleet_by"sv, "sort"sv, "filter"sv, "from"sv, "to"sv, "since"sv, "curve_points"sv},
          {"fleet_curves"sv},
          true},
    Route{"/api/v1/metrics-table"sv,
          "metrics_table"sv,
          "Every metric and every finding, in words"sv,
          "What `gpulse explain --all --json` prints: names, units, kinds, thresholds, help."sv,
          {},
          {"metrics_table"sv},
          true},
};

struct Parameter {
  std::string_view name, in_query, description;
  void (*schema)(JsonWriter &json);
  bool is_repeated = false;
};

void text_schema(JsonWriter &json) { json.member("type", "string"); }

void text_list_schema(JsonWriter &json) {
  json.member("type", "array");
  json.key("items");
  json.begin_object();
  json.member("type", "string");
  json.end_object();
}

void sample_metrics_schema(JsonWriter &json) {
  text_list_schema(json);
  json.member("maxItems", 64);
}

void curve_metrics_schema(JsonWriter &json) {
  json.member("type", "array");
  json.member("maxItems", 64);
  json.key("items");
  json.begin_object();
  json.member("type", "string");
  json.key("enum");
  json.begin_array();
  for (const auto scope : {Scope::device, Scope::host}) {
    for_each_metric(scope, [&](MetricId id, const Metric &metric) {
      if (!is_text(metric)) json.value(view::csv_title(id));
    });
  }
  json.end_array();
  json.end_object();
}

void points_schema(JsonWriter &json) {
  json.member("type", "integer");
  json.member("minimum", 1);
  json.member("maximum", 20'000);
  json.member("default", 1000);
}

void curve_points_schema(JsonWriter &json) {
  json.member("type", "integer");
  json.member("minimum", 1);
  json.member("maximum", 1000);
  json.member("default", 300);
}

void owner_schema(JsonWriter &json) {
  json.member("type", "string");
  json.key("enum");
  json.begin_array();
  for (const auto role : {Role::user, Role::job}) {
    if (const auto owner = find_role(Scope::process, role)) json.value(key_of(*owner).key);
  }
  json.end_array();
}

void flag_schema(JsonWriter &json) {
  json.member("type", "integer");
  json.member("minimum", 0);
  json.member("maximum", 1);
  json.member("default", 1);
}

constexpr std::array kParameters{
    Parameter{"metrics"sv, "metrics"sv,
              "keys of the metrics table, with host. or process. before those that are not of a device; process.* "
              "stands for all of a scope"sv,
              sample_metrics_schema},
    Parameter{"curves"sv, "metrics"sv, "numbers of devices and of the host"sv, curve_metrics_schema},
    Parameter{"devices"sv, "devices"sv,
              "numbers (0, or 0:1 for an instance), UUIDs or their beginnings, PCI addresses or vendors"sv,
              text_list_schema},
    Parameter{"from"sv, "from"sv, "Unix seconds, or RFC 3339 with its zone"sv, text_schema},
    Parameter{"to"sv, "to"sv, "as from; now unless given"sv, text_schema},
    Parameter{"since"sv, "since"sv, "in place of from: so long before the end, 90, 30m, 12h or 7d"sv, text_schema},
    Parameter{"step"sv, "step"sv, "whole seconds, 10 or 5m; in place of points"sv, text_schema},
    Parameter{"points"sv, "points"sv, "about so many steps"sv, points_schema},
    Parameter{"processes"sv, "processes"sv, "0: without the processes"sv, flag_schema},
    Parameter{"by"sv, "by"sv, "sums over a span, of each user or each job"sv, owner_schema},
    Parameter{"fleet_by"sv, "by"sv, "a group per host, cluster, user, job, account, pod or model"sv, text_schema},
    Parameter{"sort"sv, "sort"sv, "groups by health, waste, use or name"sv, text_schema},
    Parameter{"filter"sv, "filter"sv, "user=ann, as `gpulse fleet --filter` takes it; may be given several times"sv,
              text_list_schema, true},
    Parameter{"at"sv, "at"sv, "as from: a moment of the past"sv, text_schema},
    Parameter{"curve_points"sv, "points"sv, "about so many moments"sv, curve_points_schema},
};

void write_parameters(JsonWriter &json) {
  json.key("parameters");
  json.begin_object();
  for (const auto &parameter : kParameters) {
    json.key(parameter.name);
    json.begin_object();
    json.member("name", parameter.in_query);
    json.member("in", "query");
    json.member("description", parameter.description);
    json.member("style", "form");
    json.member("explode", parameter.is_repeated);
    json.key("schema");
    json.begin_object();
    parameter.schema(json);
    json.end_object();
    json.end_object();
  }
  json.end_object();
}

void write_reference(JsonWriter &json, std::string_view where, std::string_view name) {
  json.begin_object();
  json.member("$ref", std::string(where) + std::string(name));
  json.end_object();
}

void write_parameter_list(JsonWriter &json, std::span<const std::string_view> names) {
  json.key("parameters");
  json.begin_array();
  for (const auto name : names) {
    if (!name.empty()) write_reference(json, "#/components/parameters/", name);
  }
  json.end_array();
}

void write_good(JsonWriter &json, std::string_view type, std::span<const std::string_view> schemas) {
  json.key("200");
  json.begin_object();
  json.member("description", "the answer");
  json.key("content");
  json.begin_object();
  json.key(type);
  json.begin_object();
  json.key("schema");
  json.begin_object();
  json.key("anyOf");
  json.begin_array();
  for (const auto name : schemas) {
    if (!name.empty()) write_reference(json, kSchemas, name);
  }
  json.end_array();
  json.end_object();
  json.end_object();
  json.end_object();
  json.end_object();
}

void write_plain(JsonWriter &json, std::string_view status, std::string_view description) {
  json.key(status);
  json.begin_object();
  json.member("description", description);
  json.end_object();
}

void write_errors(JsonWriter &json) {
  for (const auto *const status : {"400", "401", "404", "503"}) {
    json.key(status);
    write_reference(json, "#/components/responses/", "error");
  }
}

void write_route(JsonWriter &json, const Route &route) {
  json.key(route.path);
  json.begin_object();
  json.key("get");
  json.begin_object();
  json.member("operationId", route.id);
  json.member("summary", route.summary);
  if (!route.description.empty()) json.member("description", route.description);
  write_parameter_list(json, route.parameters);
  json.key("responses");
  json.begin_object();
  write_good(json, "application/json", route.answers);
  if (route.is_lasting) write_plain(json, "304", "what the client has is still right");
  write_errors(json);
  json.end_object();
  json.end_object();
  json.end_object();
}

void write_stream(JsonWriter &json) {
  static constexpr std::array kParameterNames{"metrics"sv, "devices"sv, "processes"sv};
  static constexpr std::array kSchemaNames{"hello"sv, "snapshot"sv, "lasting_finding"sv, "event"sv};
  json.key("/api/v1/stream");
  json.begin_object();
  json.key("get");
  json.begin_object();
  json.member("operationId", "stream");
  json.member("summary", "Every sample as it comes, as server-sent events");
  json.member("description",
              "Events: `hello` first; `sample`, a snapshot without events and findings, whose id is its time in Unix "
              "milliseconds; `finding` and `finding_ended`; `event`. The data of each is one of these schemas. A "
              "client that is too slow misses samples, never the newest. One that comes back with Last-Event-ID gets "
              "the samples of the last minutes that it missed, or `hello` tells it to ask for the history.");
  write_parameter_list(json, kParameterNames);
  json.key("responses");
  json.begin_object();
  write_good(json, "text/event-stream", kSchemaNames);
  write_errors(json);
  json.end_object();
  json.end_object();
  json.end_object();
}

void write_description(JsonWriter &json) {
  json.key("paths");
  json.begin_object();
  for (const auto &route : kRoutes) write_route(json, route);
  write_stream(json);
  json.key("/api/v1/openapi.json");
  json.begin_object();
  json.key("get");
  json.begin_object();
  json.member("operationId", "openapi");
  json.member("summary", "This document");
  json.key("responses");
  json.begin_object();
  write_plain(json, "200", "an OpenAPI 3.1 document");
  write_errors(json);
  json.end_object();
  json.end_object();
  json.end_object();
  json.end_object();
}

void write_error_response(JsonWriter &json) {
  json.key("responses");
  json.begin_object();
  json.key("error");
  json.begin_object();
  json.member("description", "why there is no answer");
  json.key("content");
  json.begin_object();
  json.key("application/json");
  json.begin_object();
  json.key("schema");
  write_reference(json, kSchemas, "error");
  json.end_object();
  json.end_object();
  json.end_object();
  json.end_object();
}

}  // namespace

std::string openapi() {
  std::string compact;
  view::SchemaWriter schema(compact, std::string(kSchemas));
  auto &json = schema.json();
  json.begin_object();
  json.member("openapi", "3.1.0");
  json.key("info");
  json.begin_object();
  json.member("title", "gpulse");
  json.member("version", "1");
  json.member("summary", "What the GPUs of a machine do, and did: the API of `gpulse serve`");
  json.end_object();
  write_description(json);
  json.key("components");
  json.begin_object();
  write_parameters(json);
  write_error_response(json);
  json.key("schemas");
  json.begin_object();
  write_answer_schemas(schema);
  json.end_object();
  json.end_object();
  json.end_object();
  return view::indent_json(compact);
}

}  // namespace gpulse::serve

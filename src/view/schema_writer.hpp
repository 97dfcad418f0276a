// SPDX-License-Identifier: Apache-2.0
// Writes a JSON Schema: closed objects, in which what is not there is null. For view/json_schema and serve/openapi.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.hpp"
#include "metric/metric.hpp"

namespace gpulse::view {

// Every object is closed: what is not there is null. Only what --fields can leave out is not required.
class SchemaWriter {
 public:
  // `definitions`: where in the document they stand.
  SchemaWriter(std::string &out, std::string definitions) : json_(out), definitions_(std::move(definitions)) {}

  JsonWriter &json() { return json_; }

  template <class Members>
  void object(Members members) {
    json_.member("type", "object");
    json_.member("additionalProperties", false);
    json_.key("properties");
    json_.begin_object();
    auto outer = std::move(keys_);
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
  void described(std::string_view key, std::string_view type, std::string_view description) {
    member(key, [&] {
      json_.member("type", type);
      json_.member("description", description);
    });
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
  void point_to(std::string_view definition) { json_.member("$ref", definitions_ + std::string(definition)); }

 private:
  JsonWriter json_;
  std::string definitions_;
  std::vector<std::string_view> keys_;  // of the object that is being written, those that must be there
};

// The definitions that a snapshot is made of, as members; and what stands in its own object.
void write_snapshot_definitions(SchemaWriter &schema);
void write_snapshot_members(SchemaWriter &schema);
// What stands in the object of a finding.
void write_finding_schema(SchemaWriter &schema);
// Which metrics an object may have, each with what it may be; `texts`: those that are texts, else the others.
void write_metric_schemas(SchemaWriter &schema, Scope scope, bool texts);
// What view::write_device_names writes, and the state beside it.
void write_device_names_schema(SchemaWriter &schema);
void write_device_state_schema(SchemaWriter &schema);

}  // namespace gpulse::view

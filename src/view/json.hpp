// SPDX-License-Identifier: Apache-2.0
// A snapshot as JSON, "gpulse/1": docs/schema/gpulse-1.schema.json says what may stand in it. Pure functions.
//
// Numbers are rounded to three digits after the point, or to the metric's own precision where that is finer: what lies
// beyond is noise of the driver's arithmetic. A number that is not there is null, and "unavailable" says why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "base/result.hpp"
#include "insight/finding.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse::view {

// The metrics of devices that the fields name, or of others: "host.cpu_percent", "process.user". What identifies a
// device or a sample is no metric, and always there.
Result<MetricSet> json_fields(std::span<const std::string> fields);
// What has to be read for them.
MetricSet needs_of_json(const MetricSet &fields);

// What stays the same from one sample to the next, as it was written the last time: for one who writes many, always
// with the same metrics.
struct JsonMemory {
  struct Part {
    std::shared_ptr<const DeviceIdentity> identity;
    std::optional<DeviceId> id;  // none: nothing has been written yet
    std::string who, info;
  };
  std::vector<Part> devices;
  SharedVector<SourceStatus> statuses;
  std::string sources;
};

struct JsonOptions {
  bool pretty = false;              // laid out for a person, with a newline at the end
  const MetricSet *only = nullptr;  // these alone, and no host and no processes where none of them is theirs
  JsonMemory *memory = nullptr;
  std::optional<std::int64_t> step{};                       // of the training that the sample was taken in
  const std::vector<insight::Finding> *findings = nullptr;  // of the past minute; null: there is no past to judge
  bool processes = true;
  bool events = true;
};
// Appends one object.
void write_json(const Snapshot &snapshot, std::string &out, const JsonOptions &options = {});

// Who a device is, as members of its object: "id", "index", "vendor", "uuid", …
void write_device_names(JsonWriter &json, const Device &device);
// And what it says of itself in words, the object "info".
void write_device_info(JsonWriter &json, const Device &device);
// One event, with its braces.
void write_event_json(JsonWriter &json, const Event &event);
// One process on a device, with its braces.
void write_process_json(JsonWriter &json, const Process &process, const MetricSet *only = nullptr);

// As it stands in JSON.
double rounded(MetricId id, double value);

}  // namespace gpulse::view

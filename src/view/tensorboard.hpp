// SPDX-License-Identifier: Apache-2.0
// Values as the Event messages of TensorBoard's files: which metrics become curves, how these are called and in which
// unit they are, and the bytes (protocol buffers) of an event. Pure functions; how events lie in a file is up to
// src/sink.
//
//   Event     1 wall_time double, 2 step int64, 3 file_version, 5 summary, 10 source_metadata{1 writer}
//   Summary   1 repeated Value
//   Value     1 tag, 2 simple_value float, 9 metadata
//   metadata  1 plugin_data{1 plugin_name}, 2 display_name, 3 summary_description, 4 data_class
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse::view {

// The metrics that the fields name; none: log_fields(). What identifies a device or a sample is passed by; what is not
// a number over time is an error.
Result<MetricSet> tensorboard_fields(std::span<const std::string> fields);

// What a value is multiplied by: bytes are written as MiB, because a float has 24 bits.
double tensorboard_scale(Unit unit);
// "memory_used_mib": the key with the unit that is written.
std::string tensorboard_name(const Metric &metric);
// "gpu0", of an instance "gpu0.1": curves of a device stand together under it.
std::string tensorboard_group(const DeviceId &id);

// What stands beside a curve, in Markdown: unit, meaning, and which device it is of (null: the host).
struct CurveNote {
  std::string title, description;
};
CurveNote tensorboard_note(const Metric &metric, const Device *device);

struct CurvePoint {
  std::string_view tag;
  float value = 0;
  const CurveNote *note = nullptr;  // with the first point of a tag in a file
};

// Each appends the bytes of one Event.
void append_tensorboard_head(std::string &out, WallTime time, std::string_view writer);
void append_tensorboard_event(std::string &out, WallTime time, std::int64_t step, std::span<const CurvePoint> points);

}  // namespace gpulse::view

// SPDX-License-Identifier: Apache-2.0
// A snapshot as comma-separated values (RFC 4180): a line per device, a column per metric; one line where all columns
// are of the host. Pure functions.
// Numbers as in JSON; words of a set are joined by '|', "none" for an empty one; a value that is not there is an empty
// cell.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse::view {

// Columns that are not metrics: what the device is and when it was looked at.
enum class CsvIdentity : std::uint8_t {
  time,
  hostname,
  id,
  index,
  parent,
  mig,
  uuid,
  name,
  vendor,
  pci,
  driver,
  label,
  state,
  step
};
using CsvColumn = std::variant<CsvIdentity, MetricId>;

// None when it names no column of that kind.
std::optional<CsvIdentity> find_csv_identity(std::string_view field);

// By key, or by nvidia-smi's name of a metric; "host." and "process." stand before those that are not of a device.
std::optional<MetricId> find_field(std::string_view field);

// What to do about a field that is none: the nearest one, or where they are listed.
std::string nearest_field(std::string_view field);

// A text as a cell: in quotes where RFC 4180 wants them.
void append_csv_text(std::string &out, std::string_view text);
// A value of the metric as it stands in a cell.
void append_csv_value(std::string &out, MetricId id, double value);
// What the field is called: the key, with "host." before those of the host.
std::string csv_title(MetricId id);

// No fields: time, id, uuid, name and every number of a device.
Result<std::vector<CsvColumn>> csv_columns(std::span<const std::string> fields);
// What has to be read for these columns.
MetricSet needs_of_csv(std::span<const CsvColumn> columns);

void write_csv_header(std::span<const CsvColumn> columns, std::string &out);
// `step`: of the training that the sample was taken in.
void write_csv(const Snapshot &snapshot, std::span<const CsvColumn> columns, std::string &out,
               std::optional<std::int64_t> step = std::nullopt);

}  // namespace gpulse::view

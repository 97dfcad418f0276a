// SPDX-License-Identifier: Apache-2.0
// What other exporters call what gpulse shows: for hosts that have one of them and no agent. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fleet/fleet_queries.hpp"
#include "fleet/fleet_snapshot.hpp"

namespace gpulse::fleet {

struct ForeignReading {
  FleetReading reading;
  std::string_view family;
  double scale = 1;            // to the unit of the metric table
  std::string_view plus = {};  // a family that is to be added
};

struct ForeignExporter {
  Exporter exporter;
  std::string_view present;  // a series that each GPU has
  std::string_view uuid;     // the label that has it
  std::string_view labels;   // that tell GPUs of a host apart in all of its series
  std::string_view more;     // that are of use on `present`
  std::string_view port;     // where it usually listens
  std::span<const ForeignReading> readings;
};

std::span<const ForeignExporter> foreign_exporters();

// What a series says of the GPU that it is about; of an instance the uuid has its number behind it.
struct ForeignNames {
  std::string uuid{}, parent{};
  Text id{}, name{};
};
ForeignNames foreign_names(const ForeignExporter &exporter, const EngineSeries &series);

// The GPUs of the last hour; the values are the moments of their last samples.
std::string present_query(const ForeignExporter &exporter);
std::string reading_query(const ForeignExporter &exporter, const ForeignReading &reading);

// The same for a GPU whoever tells of it: some leave out "GPU-", or write it small.
std::string plain_uuid(std::string_view uuid);

}  // namespace gpulse::fleet

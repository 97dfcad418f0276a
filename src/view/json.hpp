// SPDX-License-Identifier: Apache-2.0
// A snapshot as JSON, "gpulse/1": docs/schema/gpulse-1.schema.json says what may stand in it. Pure functions.
//
// Numbers are rounded to three digits after the point, or to the metric's own precision where that is finer: what lies
// beyond is noise of the driver's arithmetic. A number that is not there is null, and "unavailable" says why.
#pragma once

#include <string>

#include "model/snapshot.hpp"

namespace gpulse::view {

// Appends one object; compact without a newline, or laid out for a person with one.
void write_json(const Snapshot &snapshot, std::string &out, bool pretty);

// As it stands in JSON.
double rounded(const Metric &metric, double value);

}  // namespace gpulse::view

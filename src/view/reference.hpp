// SPDX-License-Identifier: Apache-2.0
// The whole metric table for readers outside the program: as JSON, and as the page of the documentation.
#pragma once

#include <string>

namespace gpulse::view {

// docs/metrics.md
std::string metric_reference();

// `gpulse explain --all --json`: every field of every row.
void write_table_json(std::string &out, bool pretty);

}  // namespace gpulse::view

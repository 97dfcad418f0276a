// SPDX-License-Identifier: Apache-2.0
// The tables of metrics and findings for readers outside the program: as JSON, and as pages of the documentation.
#pragma once

#include <string>

namespace gpulse::view {

// docs/metrics.md
std::string metric_reference();
// docs/findings.md
std::string finding_reference();

// `gpulse explain --all --json`: every field of every row of both.
void write_table_json(std::string &out, bool pretty);

}  // namespace gpulse::view

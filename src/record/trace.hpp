// SPDX-License-Identifier: Apache-2.0
// Reads a trace: the CSV in which one H200 was observed under ten labelled workloads (data/h200_trace.csv). What the
// columns do not say (the board's name, its limits) are facts of that board; its identity is made up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse::record {

// Whether a text begins as a trace does: with a line of column names, t_s among them.
bool is_trace(std::string_view start);

// One snapshot per line. Columns may be in any order; unknown ones are passed by, metrics without one are
// not_supported. Where the label of the column `phase` changes, the snapshot has an event that says so.
// `name` stands for the text in messages.
Result<std::vector<SnapshotPtr>> import_trace(std::string_view csv, const std::string &name,
                                              const std::string &origin = {});

}  // namespace gpulse::record

// SPDX-License-Identifier: Apache-2.0
// Reads what `gpulse --csv` wrote: a row per device, its columns named by the metric table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse::record {

// Whether a text begins with a line of gpulse's own column names.
bool is_own_csv(std::string_view start);

// One snapshot for the rows of a moment. Columns may be in any order; unknown ones are passed by, an empty cell and a
// metric without a column are not_supported: the table does not say why. `name` stands for the text in messages.
Result<std::vector<SnapshotPtr>> read_own_csv(std::string_view csv, const std::string &name, const std::string &origin);

}  // namespace gpulse::record

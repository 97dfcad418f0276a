// SPDX-License-Identifier: Apache-2.0
// Reads the output of nvidia-smi: the XML of `-q -x` (DTD v8 to v13), the text of `-q`, and the CSV of all queries. A
// log made with `-l` contains several samples, each of which becomes a snapshot. The origin of the snapshots is LOG.
//
// nvidia-smi writes times without a time zone; they are taken as local time. Without a timestamp, the time of the
// snapshot is 0, which means unknown. What is missing from the log is not_supported; text in place of a number is an
// error, never 0.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse::smi {

inline constexpr std::size_t kLargestLog = std::size_t{1} << 26U;

// Whether this is the beginning of a log of nvidia-smi.
bool is_log(std::string_view start);

// Returns at least one snapshot. `name` is used in error messages. `columns` are the titles of CSV that has none:
// "index,name,…".
Result<std::vector<SnapshotPtr>> read_log(std::string_view text, const std::string &name,
                                          std::string_view columns = {});

}  // namespace gpulse::smi

// SPDX-License-Identifier: Apache-2.0
// Reads what nvidia-smi left in a file: the XML of `nvidia-smi -q -x` (v8 to v13 of its DTD) and the CSV of
// `--query-gpu` and `--query-compute-apps` with its line of titles. One snapshot per moment: a log made with `-l` holds
// several. The snapshots say LOG.
//
// nvidia-smi gives its times without a zone: they are read as local time of the machine that reads. A log without a
// time gives snapshots of the time 0, which stands for unknown. What the log does not hold is not_supported; a text
// that is no value where one must be is an error, never 0.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse::smi {

inline constexpr std::size_t kLargestLog = std::size_t{1} << 26U;

// Whether a text begins as a log of nvidia-smi does.
bool is_log(std::string_view start);

// At least one snapshot. `name` stands for the text in messages.
Result<std::vector<SnapshotPtr>> read_log(std::string_view text, const std::string &name);

}  // namespace gpulse::smi

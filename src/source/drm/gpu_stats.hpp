// SPDX-License-Identifier: Apache-2.0
// Parser for gpu_stats, the file in which some drivers list what each queue of a device has done so far.
#pragma once

#include <string_view>
#include <vector>

#include "source/drm/fdinfo.hpp"

namespace gpulse::drm {

// Lines of "queue timestamp jobs runtime", in nanoseconds; the run time becomes `cycles` and the time stamp
// `total_cycles`. The names point into the text. False when it is not such a table.
bool parse_gpu_stats(std::string_view text, std::vector<EngineCount> &out);

}  // namespace gpulse::drm

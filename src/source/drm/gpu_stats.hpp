// SPDX-License-Identifier: Apache-2.0
// The table in which some drivers tell what each of a device's queues has done so far, whoever asked for it.
#pragma once

#include <string_view>
#include <vector>

#include "source/drm/fdinfo.hpp"

namespace gpulse::drm {

// Lines "queue timestamp jobs runtime", times in nanoseconds: the run time as cycles, compared with the time stamp. The
// names point into the text. False when it is not such a table.
bool parse_gpu_stats(std::string_view text, std::vector<EngineCount> &out);

}  // namespace gpulse::drm

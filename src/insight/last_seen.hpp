// SPDX-License-Identifier: Apache-2.0
// Jobs that have just left a device on which nearly no memory was free. Nobody tells a watcher how a job ended: that it
// ran out of memory is a guess, and said as one. Pure.
#pragma once

#include <deque>
#include <vector>

#include "insight/finding.hpp"

namespace gpulse::insight {

// Of the processes that are in the last sample but one and not in the last; those before tell how it came to that.
std::vector<Finding> left_full_devices(const std::deque<SnapshotPtr> &samples);

}  // namespace gpulse::insight

// SPDX-License-Identifier: Apache-2.0
// What a log of a run holds where nobody says which fields: chosen by what the metric table says of each. Pure.
#pragma once

#include "metric/set.hpp"

namespace gpulse::view {

// Of a device what a view shows first (use, memory, power, heat, clocks, links); of the host use, memory, disks,
// network.
MetricSet log_fields();

}  // namespace gpulse::view

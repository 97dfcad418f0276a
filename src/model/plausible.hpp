// SPDX-License-Identifier: Apache-2.0
// What a driver or a kernel file says is believed only as far as it can be true.
#pragma once

#include "metric/table.hpp"
#include "model/reading.hpp"

namespace gpulse {

// The value, or Reason::out_of_range where the metric cannot have it.
Reading plausible(MetricId id, double value);

}  // namespace gpulse

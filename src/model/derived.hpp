// SPDX-License-Identifier: Apache-2.0
// Metrics that follow from others, so that no source has to compute them and no reader of ours either.
#pragma once

#include "metric/set.hpp"
#include "model/row.hpp"

namespace gpulse {

// Fills those of the row's scope; `only`: nothing else is asked for. What cannot be told has the reason of what it
// follows from.
void derive(Row &row, const MetricSet *only = nullptr);

// These, and what has to be read for them.
MetricSet with_inputs(MetricSet wanted);

}  // namespace gpulse

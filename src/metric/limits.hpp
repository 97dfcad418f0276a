// SPDX-License-Identifier: Apache-2.0
// Which metric another one is to be held against: the most it can be, or should be. Pure.
#pragma once

#include <optional>

#include "metric/table.hpp"

namespace gpulse {

std::optional<MetricId> limit_of(MetricId id);

}  // namespace gpulse

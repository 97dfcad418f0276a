// SPDX-License-Identifier: Apache-2.0
// What a driver or a kernel file says is believed only as far as it can be true. What cannot be is never bent into
// something that could: it becomes Reason::out_of_range.
#pragma once

#include <span>

#include "metric/table.hpp"
#include "model/device_details.hpp"
#include "model/reading.hpp"
#include "model/row.hpp"

namespace gpulse {

// The value, or Reason::out_of_range where the metric cannot have it.
Reading plausible(MetricId id, double value);

// The same for all that is known of a device, a process, the host …; also a part that is larger than its whole. Every
// source's readings pass through here on their way into a snapshot.
void keep_plausible(Row &row);
// Of a row of which only these have been read again.
void keep_plausible(Row &row, std::span<const MetricId> some);
void keep_plausible(DeviceDetails &details);

}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// What the tables of devices show of one device, whichever table it is.
#pragma once

#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "term/table.hpp"

namespace gpulse::view {

// Devices as people look for them: by index, instances below the device they are part of.
std::vector<const Device *> ordered_devices(const Snapshot &snapshot);

// Without the vendor's word; an instance hangs below its parent.
std::string device_name(const Device &device, const term::Style &style);
// "lost for 12 s", for one that does not answer.
term::Cell state_cell(const Device &device);
// "112/140G"
term::Cell memory_cell(const term::Style &style, const Device &device);
// "690/700W"
term::Cell power_cell(const term::Style &style, const Device &device);
// The reading the whole program is about: a device that claims to be busy while most of it is not stands out.
term::Cell activity_cell(const term::Style &style, const Device &device);

// What holds the device back, and every reading beyond its threshold that has no column of its own; the worst first.
term::Cell notices_cell(const term::Style &style, const Device &device);

// The further readings that a view shows as it has room, in their order.
const std::vector<MetricId> &ranked_metrics(Scope scope);

}  // namespace gpulse::view

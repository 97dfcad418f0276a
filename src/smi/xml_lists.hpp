// SPDX-License-Identifier: Apache-2.0
// Reads the lists in the XML of a device: event reasons, supported clocks, retired pages, accounted processes.
#pragma once

#include <pugixml.hpp>

#include "model/device_details.hpp"

namespace gpulse::smi {

// The active reasons, and those that the device supports.
void fill_event_reasons(pugi::xml_node gpu, Row &row, Row &details);

// Each list with the number of its entries, or the reason why there are none.
void fill_lists(pugi::xml_node gpu, DeviceDetails &details);

}  // namespace gpulse::smi

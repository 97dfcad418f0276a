// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi's XML holds more than once for a device: reasons for lower clocks, clocks, pages, old processes.
#pragma once

#include <pugixml.hpp>

#include "model/device_details.hpp"

namespace gpulse::smi {

// The reasons in force, and those the device can tell.
void fill_event_reasons(pugi::xml_node gpu, Row &row, Row &details);

// The lists of the details, with the number of entries or the reason why there is none.
void fill_lists(pugi::xml_node gpu, DeviceDetails &details);

}  // namespace gpulse::smi

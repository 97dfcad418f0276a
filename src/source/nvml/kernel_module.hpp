// SPDX-License-Identifier: Apache-2.0
// What the kernel module tells about a device and the library has no public function for.
#pragma once

#include "source/nvml/device.hpp"

namespace gpulse::nvml {

// Like "2335-895-A1". The driver must have the device in use, as it has while the library has a handle of it.
TextReading read_part_number(const Driver &driver, const DeviceData &device);

}  // namespace gpulse::nvml

// SPDX-License-Identifier: Apache-2.0
// What the kernel module tells about a device and the library has no public function for.
#pragma once

#include "source/nvml/device.hpp"

namespace gpulse::nvml {

struct ModuleReadings {
  TextReading part_number;  // "2335-895-A1"
  Reading sparse_mode;      // 0 or 1
};

// The driver must have the device in use, as it has while the library has a handle of it.
ModuleReadings read_kernel_module(const Driver &driver, const DeviceData &device);

// How long programs that share the device compute in turn: 0 default, 1 short, 2 medium, 3 long.
Reading read_timeslice(const Driver &driver, const DeviceData &device);

}  // namespace gpulse::nvml

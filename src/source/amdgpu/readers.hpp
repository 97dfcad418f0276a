// SPDX-License-Identifier: Apache-2.0
// The table of what is read of an AMD device: a file or a handful of them per row, the metrics it fills, how often.
#pragma once

#include <span>

#include "source/amdgpu/device.hpp"

namespace gpulse::amdgpu {

struct Reader {
  ReaderInfo info;
  Outcome (*read)(const Context &, const Reader &) = nullptr;
  // For those that read one number: a sensor's or the device's own file, and what to multiply it with.
  Sensor sensor = Sensor::none;
  std::string_view file = {};
  double scale = 1;
};

// The first tells whether the device sleeps, and is read before all others.
std::span<const Reader> readers();

}  // namespace gpulse::amdgpu

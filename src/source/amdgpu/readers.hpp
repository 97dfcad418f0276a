// SPDX-License-Identifier: Apache-2.0
// How each metric of an AMD device is read: one row per file or small group of files.
#pragma once

#include <span>

#include "source/amdgpu/device.hpp"

namespace gpulse::amdgpu {

struct Reader {
  ReaderInfo info;
  Outcome (*read)(const Context &, const Reader &) = nullptr;
  // For rows that read one number: a sensor's file or the device's own, and the factor.
  Sensor sensor = Sensor::none;
  std::string_view file = {};
  double scale = 1;
};

// In the order in which they are called: the first one checks whether the device is asleep.
std::span<const Reader> readers();

}  // namespace gpulse::amdgpu

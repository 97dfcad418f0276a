// SPDX-License-Identifier: Apache-2.0
// How each metric is read from the driver: one row per call.
#pragma once

#include "source/api/source.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

struct Reader {
  ReaderInfo info;
  Outcome (*read)(const Driver &, DeviceData &, Monotonic, Frame &);
};

std::span<const Reader> readers();

}  // namespace gpulse::nvml

// SPDX-License-Identifier: Apache-2.0
// How each metric of an Intel device is read: one row per file or group of files.
#pragma once

#include <span>

#include "source/intel/device.hpp"
#include "source/source.hpp"

namespace gpulse::intel {

struct Call {
  const Surroundings &around;
  Device &device;
  Monotonic now;
  Frame &frame;
};

struct Reader {
  ReaderInfo info;
  Outcome (*read)(const Call &);
};

std::span<const Reader> readers();

}  // namespace gpulse::intel

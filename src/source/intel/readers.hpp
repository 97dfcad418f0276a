// SPDX-License-Identifier: Apache-2.0
// How each metric of an Intel device is read: one row per file or group of files.
#pragma once

#include <span>

#include "source/api/source.hpp"
#include "source/drm/idle_cards.hpp"
#include "source/intel/device.hpp"

namespace gpulse::intel {

struct Call {
  const ReaderContext &context;
  drm::IdleCards &idle_cards;
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

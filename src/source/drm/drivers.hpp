// SPDX-License-Identifier: Apache-2.0
// Which kernel drivers the generic source is for, and what is known of them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "source/drm/card.hpp"

namespace gpulse::drm {

struct Driver {
  std::string_view name;    // as the kernel has it
  std::string_view vendor;  // "arm"
  std::string_view device;  // what to call it where neither the device tree nor the bus names it
  // The GPU of a system on a chip sleeps between two frames, and all that is read of it the kernel answers from
  // memory: to it, asleep is idle.
  bool on_chip = false;
};

// What is known of the driver; for one never heard of, that there is one.
Driver describe_driver(const Card &card);

// False for drivers that another source reads, and for those that only show pictures.
bool may_be_generic(std::string_view driver);

// Whether the driver's card can also be sent work to.
bool is_generic(const Card &card);

// A name of the device tree in plain words: "brcm,2712-v3d" is "Broadcom 2712 V3D". Empty for what names no GPU.
std::string plain_name(std::string_view compatible);

}  // namespace gpulse::drm

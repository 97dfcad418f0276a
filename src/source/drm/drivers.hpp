// SPDX-License-Identifier: Apache-2.0
// The kernel drivers that the generic source reads, and what is known about them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "source/drm/card.hpp"

namespace gpulse::drm {

struct Driver {
  std::string_view name;    // as the kernel has it
  std::string_view vendor;  // "arm"
  std::string_view device;  // its name when neither the device tree nor the bus has one
  // The GPU of a system on a chip is suspended between two frames, and the kernel answers from memory without waking
  // it: such a device counts as idle, not as asleep.
  bool on_chip = false;
};

// What is known about the card's driver; no more than its name for an unknown one.
Driver describe_driver(const Card &card);

// False for drivers that another source reads, and for those that only drive displays.
bool may_be_generic(std::string_view driver);

// Whether the card can do work besides driving a display.
bool is_generic(const Card &card);

// A device-tree name for people: "brcm,2712-v3d" is "Broadcom 2712 V3D". Empty when it does not name a GPU.
std::string plain_name(std::string_view compatible);

}  // namespace gpulse::drm

// SPDX-License-Identifier: Apache-2.0
// The devices that the kernel's graphics and accelerator drivers show, whoever made them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/sysroot.hpp"
#include "model/reading.hpp"

namespace gpulse::drm {

// A device file: graphics are of major number 226, accelerators of 261.
struct Node {
  std::uint32_t major = 0, minor = 0;
  bool operator==(const Node &) const = default;
};
inline constexpr std::uint32_t kDrmMajor = 226, kAccelMajor = 261;

struct Card {
  std::string name;                                                      // "card1", "accel0"
  std::string folder;                                                    // /sys/class/drm/card1
  std::string device;                                                    // /sys/class/drm/card1/device
  std::string driver;                                                    // "amdgpu"
  std::string pci;                                                       // 0000:03:00.0; empty on a system on a chip
  std::uint32_t vendor = 0, product = 0, subvendor = 0, subproduct = 0;  // 0: not told
  std::optional<std::uint32_t> revision;
  std::vector<Node> nodes;  // what a program opens to use it
  bool asleep = false;

  // The same device with the same driver, awake or not as before.
  bool operator==(const Card &) const = default;
};

// In the order of their addresses on the bus, which is the same at every start.
// Only those of the drivers that are wanted: of the others one file is read.
using Wanted = bool (*)(std::string_view driver);
std::vector<Card> list_cards(const Sysroot &root, Wanted wanted);

// The device behind one folder of a class, without its nodes; `driver` where the folder does not tell.
Card describe_card(const Sysroot &root, std::string name, std::string folder, std::string driver = {});

// Never wakes the device.
bool is_asleep(const Sysroot &root, const Card &card);

// "PCI-0000:03:00.0", or by the card's place in the device tree: what stands for it where it has no number of its own.
std::string default_uuid(const Sysroot &root, const Card &card);

// The host's memory node nearest to the card; a machine that has but one does not tell.
Reading numa_node(const Sysroot &root, const Card &card);

// The kernel module, with its version where it has one: "amdgpu", "amdgpu 6.10.5".
std::string driver_text(const Sysroot &root, const Card &card);

}  // namespace gpulse::drm

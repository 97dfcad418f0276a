// SPDX-License-Identifier: Apache-2.0
// The devices that the kernel's graphics and accelerator drivers show, of any vendor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/sysroot.hpp"
#include "model/reading.hpp"
#include "source/api/source.hpp"

namespace gpulse::drm {

// A device file: major number 226 is for graphics, 261 for accelerators.
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
  std::uint32_t vendor = 0, product = 0, subvendor = 0, subproduct = 0;  // 0: unknown
  std::optional<std::uint32_t> revision;
  std::vector<Node> nodes;  // the device files that a program opens to use it
  bool asleep = false;

  // Equal: the same device with the same driver in the same state.
  bool operator==(const Card &) const = default;
};

// The cards of the drivers that the filter accepts, ordered by bus address, which does not change between boots. For
// other cards only one file is read.
using DriverFilter = bool (*)(std::string_view driver);
std::vector<Card> list_cards(const Sysroot &root, DriverFilter accepts);

// Where no card was found because the kernel's list cannot be read, the problem says so: it may be full of them.
void explain_unlisted(const Sysroot &root, Discovery &found);

// The device behind one folder of a class, without its nodes. `driver` is used when the folder does not name one.
Card describe_card(const Sysroot &root, std::string name, std::string folder, std::string driver = {});

// Never wakes the device.
bool is_asleep(const Sysroot &root, const Card &card);

// For a card without a serial number: "PCI-0000:03:00.0", or by its place in the device tree.
std::string default_uuid(const Sysroot &root, const Card &card);

// The NUMA node nearest to the card; not_supported on machines that have only one.
Reading numa_node(const Sysroot &root, const Card &card);

// The kernel module, with its version where it has one: "amdgpu", "amdgpu 6.10.5".
std::string driver_text(const Sysroot &root, const Card &card);

}  // namespace gpulse::drm

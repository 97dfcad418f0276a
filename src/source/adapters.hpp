// SPDX-License-Identifier: Apache-2.0
// The network adapters that other machines' memory is reached through (InfiniBand, RoCE), and how far they are from a
// device on the PCI bus.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/sysroot.hpp"
#include "base/text.hpp"

namespace gpulse {

// Where a device is plugged in.
struct PciPlace {
  std::vector<std::string> path;  // root bus, bridges and the device itself; empty: unknown
  long numa_node = -1;            // -1: none, or unknown
};

// `pci`: 0000:00:06.0.
PciPlace pci_place(const Sysroot &root, std::string_view pci);

struct NetworkAdapter {
  Text name;  // mlx5_0
  PciPlace place;
};

// Those on a PCI bus, in the order of their names: mlx5_2 before mlx5_10.
std::vector<NetworkAdapter> network_adapters(const Sysroot &root);

// What lies between the two, in nvidia-smi's words: PIX one PCIe bridge at most, PXB several, PHB a host bridge, NODE
// the host bridges of one memory node, SYS the whole machine; "N/A" when a place is unknown.
std::string_view path_between(const PciPlace &one, const PciPlace &other);

}  // namespace gpulse

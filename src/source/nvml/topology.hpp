// SPDX-License-Identifier: Apache-2.0
// How the devices are connected with each other.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "source/nvml/library.hpp"

namespace gpulse::nvml {

// The active NVLinks of one device, counted by the PCI address at their other end.
struct NvLinks {
  std::map<std::string, int> to_devices;
  std::map<std::string, int> to_switches;
};

// None when the driver does not say.
std::optional<NvLinks> read_links(const Api &api, Handle handle);

// A device that others are connected with; without a handle when it has not told it.
struct Peer {
  Handle handle = nullptr;
  std::string pci;
  std::optional<NvLinks> links;
};

// How one of the devices reaches the others: "0 X, 1 NV18, 2 SYS".
std::string read_topology(const Api &api, std::span<const Peer> peers, std::size_t device);
// The same without NVLink: "0 X, 1 NODE, 2 SYS".
std::string read_pcie_topology(const Api &api, std::span<const Peer> peers, std::size_t device);

// What one of the devices may do with the memory of each of the others.
std::vector<PeerStatus> read_peer_access(const Api &api, std::span<const Peer> peers, std::size_t device);

}  // namespace gpulse::nvml

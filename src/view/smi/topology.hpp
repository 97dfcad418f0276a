// SPDX-License-Identifier: Apache-2.0
// nvidia-smi topo -m: the connections between devices and network adapters, and the CPUs and memory close to them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

// A network adapter beside the devices: the words for its way to each.
struct TopologyAdapter {
  Text name;
  std::vector<std::string> to_devices;   // in the order of the selection
  std::vector<std::string> to_adapters;  // in their order; the one to itself is not looked at
};

// `links`: include NVLink.
MetricSet needs_of_topology(bool links);
std::string topology_matrix(const Selection &selection, bool links, std::span<const TopologyAdapter> adapters);

}  // namespace gpulse::view::smi

// SPDX-License-Identifier: Apache-2.0
// nvidia-smi topo -m: the connections between the devices, and the CPUs and memory close to them.
#pragma once

#include <string>

#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

MetricSet needs_of_topology();
// `links`: include NVLink.
std::string topology_matrix(const Selection &selection, bool links);

}  // namespace gpulse::view::smi

// SPDX-License-Identifier: Apache-2.0
// nvidia-smi topo -m: how the devices reach each other, and which processors and memory are near.
#pragma once

#include <string>

#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

MetricSet needs_of_topology();
// Without `links` only what goes over PCIe is told.
std::string topology_matrix(const Scene &scene, bool links);

}  // namespace gpulse::view::smi

// SPDX-License-Identifier: Apache-2.0
// nvidia-smi topo -n, -p, -C, -M and -gnid: how single devices reach each other and the host.
#pragma once

#include <string>

#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

inline constexpr std::uint32_t kPathLevels = 6;  // from one board to another processor

MetricSet needs_of_paths();
// The devices that the one with this number reaches by way of `level`. All devices are in `selection`.
std::string nearest_text(const Selection &selection, std::uint32_t device, std::uint32_t level);
std::string path_text(const Selection &selection, std::uint32_t from, std::uint32_t to);

MetricSet needs_of_nodes();
std::string near_memory(const Device &device);  // "0", "0-1"
std::string own_node(const Device &device);

}  // namespace gpulse::view::smi

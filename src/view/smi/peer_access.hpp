// SPDX-License-Identifier: Apache-2.0
// nvidia-smi topo -p2p: which devices may use each other's memory directly.
#pragma once

#include <optional>
#include <string>

#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

// r, w, n, a, p: reading, writing, over links, atomically, over PCIe.
std::optional<PeerAccess PeerStatus::*> parse_peer_access(std::string_view letter);

MetricSet needs_of_peer_access();
std::string peer_matrix(const Selection &selection, PeerAccess PeerStatus::*kind);

}  // namespace gpulse::view::smi

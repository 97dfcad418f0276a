// SPDX-License-Identifier: Apache-2.0
// The kubelet's list of pods with the devices that their containers have: v1.ListPodResourcesResponse. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/pod_device.hpp"

namespace gpulse::kube {

// A machine has at most so many; what comes behind them is left out.
inline constexpr std::size_t kMostPodDevices = 8192;

// Devices of all kinds, network adapters and others among them. Those of dynamic resource allocation have no name that
// anybody else knows, and are left out.
Result<std::vector<PodDevice>> read_pod_list(std::string_view bytes);

}  // namespace gpulse::kube

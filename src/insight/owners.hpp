// SPDX-License-Identifier: Apache-2.0
// Who holds each device: the user, batch job, its account and pod of the processes on it, each once. Pure; any thread.
//
// What Kubernetes says of a device counts for all processes in pods on it, as long as only one container has it:
// nothing says which process is whose on a shared one, so that there the two stand side by side.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/pod_device.hpp"
#include "model/snapshot.hpp"

namespace gpulse::insight {

inline constexpr std::size_t kMostOwners = 8;
// The user of the one that stands for all beyond those; no user can be called so.
inline constexpr std::string_view kOtherOwners = "(others)";

// A part that is not known is empty.
struct Owner {
  Text user, job, account, pod, pod_namespace, container;

  bool operator==(const Owner &) const = default;
};

struct DeviceOwners {
  Text uuid;
  std::vector<Owner> owners;  // those with the most memory first
};

// Of devices that somebody holds.
std::vector<DeviceOwners> owners(const Snapshot &snapshot, std::span<const PodDevice> pods);

}  // namespace gpulse::insight

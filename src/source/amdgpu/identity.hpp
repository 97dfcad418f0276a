// SPDX-License-Identifier: Apache-2.0
// The identity of an AMD device: name, serial numbers, neighbours. Reading these files never wakes a device.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "source/amdgpu/kfd.hpp"
#include "source/api/source.hpp"
#include "source/drm/card.hpp"
#include "source/drm/names.hpp"

namespace gpulse::amdgpu {

using IdentityPtr = std::shared_ptr<DeviceIdentity>;

// For a card, with its KFD nodes if it has any.
IdentityPtr identify_card(const Sysroot &root, const drm::Card &card, const KfdGroup &nodes, drm::Names &names,
                          bool texts);
// For a device that only KFD lists.
IdentityPtr identify_node(const Sysroot &root, const KfdGroup &nodes, drm::Names &names);
// For one part of a split chip.
IdentityPtr identify_part(const DeviceIdentity &whole, const KfdNode &node);

// How the chip is split: "SPX", "CPX"; from the driver, or else from the number of parts.
std::string partition_word(const Sysroot &root, const std::string &device, std::size_t parts);

// How each device is connected to the others, as one text per device; `nodes` are by device.
void describe_topology(std::span<const KfdGroup> nodes, std::span<const IdentityPtr> identities);

}  // namespace gpulse::amdgpu

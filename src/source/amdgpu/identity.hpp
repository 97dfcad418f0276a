// SPDX-License-Identifier: Apache-2.0
// Who an AMD device is: name, numbers, neighbours. None of these files wakes a device.
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

// Of a card, with its nodes of KFD where it has some.
IdentityPtr identify_card(const Sysroot &root, const drm::Card &card, const KfdGroup &nodes, drm::Names &names,
                          bool texts);
// Of a device that only KFD shows.
IdentityPtr identify_node(const Sysroot &root, const KfdGroup &nodes, drm::Names &names);
// Of one part of a split chip.
IdentityPtr identify_part(const DeviceIdentity &whole, const KfdNode &node);

// How the chip is split: "SPX", "CPX"; by the driver's word or else by the number of parts.
std::string partition_word(const Sysroot &root, const std::string &device, std::size_t parts);

// How each device reaches the others, as a text for each; `nodes` are by device.
void describe_topology(std::span<const KfdGroup> nodes, std::span<const IdentityPtr> identities);

}  // namespace gpulse::amdgpu

// SPDX-License-Identifier: Apache-2.0
// The part of a snapshot that concerns some devices: `-i 0,GPU-1a2b,0000:01:00.0,nvidia`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse {

// Whether the device is the one that a single selector names. It must have an identity.
bool is_selected(const Device &device, std::string_view selector);

// Each selector is a number ("0", "0:1"), a UUID or its beginning, a PCI address or a vendor; several may stand in one,
// with commas. Instances come with their parent. A selector that fits no device is an error.
Result<SnapshotPtr> select_devices(const SnapshotPtr &snapshot, const std::vector<std::string> &selectors);

}  // namespace gpulse

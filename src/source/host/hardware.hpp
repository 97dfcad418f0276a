// SPDX-License-Identifier: Apache-2.0
// Which of the kernel's disks and interfaces are hardware, so that no byte is counted twice.
#pragma once

#include <span>
#include <string_view>

#include "base/sysroot.hpp"
#include "source/host/parse.hpp"

namespace gpulse::host {

// Not a partition, not a disk made of other disks or of memory, not a second path to one. `listed`: the names of all
// disks.
bool is_whole_disk(const Sysroot &root, std::string_view name, std::span<const Flow> listed);

// Neither loopback nor virtual.
bool is_physical_interface(const Sysroot &root, std::string_view name);

}  // namespace gpulse::host

// SPDX-License-Identifier: Apache-2.0
// Which of the disks and interfaces that the kernel lists are hardware, so that no byte is counted twice.
#pragma once

#include <span>
#include <string_view>

#include "base/sysroot.hpp"
#include "source/host/parse.hpp"

namespace gpulse::host {

// No partition, no disk made of other disks, none made of memory, no second path to one. `listed` are all the names
// next to it.
bool is_whole_disk(const Sysroot &root, std::string_view name, std::span<const Flow> listed);

// Neither loopback nor made by software.
bool is_physical_interface(const Sysroot &root, std::string_view name);

}  // namespace gpulse::host

// SPDX-License-Identifier: Apache-2.0
// The machine around the devices: processors, memory, disks, network, pressure; from /proc and /sys.
#pragma once

#include <memory>

#include "source/api/source.hpp"

namespace gpulse::host {

std::unique_ptr<Source> make_host_source(const Sysroot &root);

}  // namespace gpulse::host

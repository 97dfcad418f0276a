// SPDX-License-Identifier: Apache-2.0
// GPUs and accelerators whose driver has no source of its own: what the kernel reports about any driver's clients, and
// the few files that many drivers have (clocks, sensors, queue times).
#pragma once

#include <memory>

#include "base/sysroot.hpp"
#include "source/api/source.hpp"
#include "source/drm/device_users.hpp"

namespace gpulse::drm {

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options,
                                    std::shared_ptr<DeviceUsers> device_users);

}  // namespace gpulse::drm

// SPDX-License-Identifier: Apache-2.0
// Intel GPUs (drivers i915 and xe) and NPUs, from the files of their kernel drivers.
#pragma once

#include <memory>

#include "source/api/source.hpp"
#include "source/drm/device_users.hpp"
#include "source/intel/pmu.hpp"

namespace gpulse::intel {

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options,
                                    std::shared_ptr<drm::DeviceUsers> device_users);

// For tests: with other performance counters than this machine's.
std::unique_ptr<Source> make_source_with(const Sysroot &root, const SourceOptions &options,
                                         std::shared_ptr<drm::DeviceUsers> device_users, OpenCounter open_counter);

}  // namespace gpulse::intel

// SPDX-License-Identifier: Apache-2.0
// AMD devices, from the files of their kernel drivers (amdgpu, radeon, KFD).
#pragma once

#include <memory>

#include "source/api/source.hpp"
#include "source/drm/device_users.hpp"

namespace gpulse::amdgpu {

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options,
                                    std::shared_ptr<drm::DeviceUsers> device_users);

}  // namespace gpulse::amdgpu

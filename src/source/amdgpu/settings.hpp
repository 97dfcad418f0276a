// SPDX-License-Identifier: Apache-2.0
// Changes AMD devices, by the files of their kernel driver: the power limit is all there is.
#pragma once

#include "source/api/setting.hpp"

namespace gpulse::amdgpu {

SettingResult set(const Sysroot &root, const DeviceIdentity &device, const Setting &setting);

}  // namespace gpulse::amdgpu

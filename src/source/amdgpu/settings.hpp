// SPDX-License-Identifier: Apache-2.0
// Changes settings of AMD devices through the kernel driver's files. Only the power limit can be changed there.
#pragma once

#include "source/api/setting.hpp"

namespace gpulse::amdgpu {

SettingResult set(const Sysroot &root, const DeviceIdentity &device, const Setting &setting);

}  // namespace gpulse::amdgpu

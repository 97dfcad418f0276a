// SPDX-License-Identifier: Apache-2.0
// Changes settings of NVIDIA devices through NVML.
#pragma once

#include "source/api/setting.hpp"

namespace gpulse::nvml {

SettingResult set(const Sysroot &root, const DeviceIdentity &device, const Setting &setting);

}  // namespace gpulse::nvml

// SPDX-License-Identifier: Apache-2.0
// Runtime power management, as the kernel shows it in a device's folder. Reading it never wakes the device.
#pragma once

#include <string>

#include "base/sysroot.hpp"

namespace gpulse::sysfs {

// Suspended, or about to be.
bool is_suspended(const Sysroot &root, const std::string &device);

// Awake, and the kernel would suspend it if nobody held it.
bool may_suspend(const Sysroot &root, const std::string &device);

}  // namespace gpulse::sysfs

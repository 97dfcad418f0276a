// SPDX-License-Identifier: Apache-2.0
// Changes a setting by writing to a file in /sys.
#pragma once

#include <string_view>

#include "base/sysroot.hpp"
#include "source/api/setting.hpp"

namespace gpulse::sysfs {

SettingResult write_attribute(const Sysroot &root, std::string_view path, std::string_view text);

}  // namespace gpulse::sysfs

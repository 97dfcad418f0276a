// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/text.hpp"
#include "model/snapshot.hpp"

namespace gpulse {

// The version alone: "580.159.04", "36.4.3" of "nvgpu 36.4.3". Empty for a driver that is a part of the kernel and has
// only a name.
inline std::string_view driver_version(const DeviceIdentity &identity) {
  const std::string_view text = identity.driver;
  const auto last = text.substr(text.rfind(' ') + 1);
  return !last.empty() && last.front() >= '0' && last.front() <= '9' ? last : std::string_view();
}

}  // namespace gpulse

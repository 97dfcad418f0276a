// SPDX-License-Identifier: Apache-2.0
// The temperature of the hottest processor package, from hwmon.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/sysroot.hpp"
#include "model/reading.hpp"

namespace gpulse::host {

class CpuTemperature {
 public:
  // Searches for sensors while there are none, and again when one has vanished: their numbers change when drivers are
  // loaded.
  Reading read(const Sysroot &root);

 private:
  std::vector<std::string> files_;
  std::optional<Monotonic> looked_;
  std::string buffer_;
};

}  // namespace gpulse::host

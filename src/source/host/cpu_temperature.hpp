// SPDX-License-Identifier: Apache-2.0
// How hot the processors are: the hottest package, from the sensors that the kernel has for them.
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
  // Sensors are looked for while there are none, and anew when one has vanished: their numbers change as drivers come
  // and go.
  Reading read(const Sysroot &root);

 private:
  std::vector<std::string> files_;
  std::optional<Monotonic> looked_;
  std::string buffer_;
};

}  // namespace gpulse::host

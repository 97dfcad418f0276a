// SPDX-License-Identifier: Apache-2.0
// The GPU of an NVIDIA system on a chip (Jetson) under the driver nvgpu, which shows it in files instead of on a bus.
#pragma once

#include <optional>
#include <string>

#include "base/sysroot.hpp"

namespace gpulse::tegra {

struct Gpu {
  std::string device;   // /sys/devices/platform/bus@0/17000000.gpu
  std::string devfreq;  // the folder of its clock; empty where there is none
  std::string zone;     // /sys/class/thermal/thermal_zone1; empty where there is none
  std::string chip;     // "ga10b"; empty where the kernel does not say

  bool operator==(const Gpu &) const = default;
};

std::optional<Gpu> find_gpu(const Sysroot &root);

// What measures the rail that feeds the GPU; on small modules it feeds the processors as well. Empty: nothing does.
struct Rail {
  std::string millivolts, milliamperes;  // files
  std::string milliwatts;                // or this one, with the kernels up to 4.9
  bool operator==(const Rail &) const = default;
};
Rail find_rail(const Sysroot &root);

}  // namespace gpulse::tegra

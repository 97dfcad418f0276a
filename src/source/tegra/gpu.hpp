// SPDX-License-Identifier: Apache-2.0
// Finds the GPU of an NVIDIA system on a chip (Jetson). Its driver, nvgpu, is a platform driver: there is no PCI
// device.
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

// The sensor of the GPU's power rail, which on small modules feeds the CPU too. Empty: there is none.
struct Rail {
  std::string millivolts, milliamperes;  // files
  std::string milliwatts;                // instead, on kernels up to 4.9
  bool operator==(const Rail &) const = default;
};
Rail find_rail(const Sysroot &root);

}  // namespace gpulse::tegra

// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs as the kernel lists them. Does not call the driver's library, which would wake them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/sysroot.hpp"
#include "model/snapshot.hpp"

namespace gpulse::nvml {

struct PciGpu {
  std::string pci;     // 0000:01:00.0
  std::string folder;  // /sys/bus/pci/devices/0000:01:00.0
  bool suspended = false;
  bool operator==(const PciGpu &) const = default;
};

std::vector<PciGpu> list_gpus(const Sysroot &root);

// Reads again whether it is suspended.
bool is_suspended(const Sysroot &root, const PciGpu &gpu);

// Whether the kernel would suspend it if nobody held it.
bool may_suspend(const Sysroot &root, const PciGpu &gpu);

// The identity of a sleeping device, from the kernel module's files.
std::shared_ptr<DeviceIdentity> identity_asleep(const Sysroot &root, const std::string &pci);

}  // namespace gpulse::nvml

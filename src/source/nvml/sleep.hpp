// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs as the kernel lists them, without touching the driver: whether they sleep is read here first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/sysroot.hpp"
#include "model/snapshot.hpp"

namespace gpulse::nvml {

struct PciGpu {
  std::string pci;  // 0000:01:00.0
  bool suspended = false;
  bool operator==(const PciGpu &) const = default;
};

std::vector<PciGpu> list_gpus(const Sysroot &root);

// Whether the kernel would suspend it if nobody held it.
bool may_suspend(const Sysroot &root, const PciGpu &gpu);

// What the kernel module's own files tell of a sleeping device.
std::shared_ptr<DeviceIdentity> identity_asleep(const Sysroot &root, const std::string &pci);

}  // namespace gpulse::nvml

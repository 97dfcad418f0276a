// SPDX-License-Identifier: Apache-2.0
// Who a device is: what the driver tells once, when the device is found.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/sysroot.hpp"
#include "model/snapshot.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

struct Versions {
  std::string driver, library;
  TextReading cuda = Reason::not_supported;
};

Versions read_versions(const Api &api);

// 0000:00:06.0, the form of the kernel; empty when the driver does not tell.
std::string read_pci(const Api &api, Handle handle);

// `texts`: also what is nice to know but costs calls.
// Whether the GPU is part of a system on a chip, by the name the driver gives it: "NVIDIA GB10", "Orin (nvgpu)".
bool is_integrated(std::string_view name);
// Whether nvgpu runs it, for which the driver library knows a name and little else.
bool is_of_nvgpu(std::string_view name);

std::shared_ptr<DeviceIdentity> read_identity(const Api &api, const DeviceData &device, const Versions &versions,
                                              bool texts);

// How each device reaches the others, as text in the identities: "0 X, 1 NV18, 2 SYS".
void read_topology(const Api &api, const std::vector<DeviceData *> &devices,
                   const std::vector<std::shared_ptr<DeviceIdentity>> &identities);

}  // namespace gpulse::nvml

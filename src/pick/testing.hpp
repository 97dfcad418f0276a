// SPDX-License-Identifier: Apache-2.0
// For tests: devices and environments made of a few words.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pick/visible.hpp"

namespace gpulse::pick {

inline Device make_device(std::uint32_t index, const std::string &uuid, const std::string &vendor = "nvidia",
                          const std::string &name = "NVIDIA H100 80GB HBM3") {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->source = vendor == "nvidia" ? "nvml" : vendor == "amd" ? "amdgpu" : vendor;
  identity->vendor = vendor;
  identity->uuid = uuid;
  identity->name = name;
  Device device;
  device.id.index = index;
  device.identity = std::move(identity);
  device.row[device_metric("mig_mode")] = 0;
  device.row[device_metric("memory_total_bytes")] = 80 * 0x1p30;
  device.row[device_metric("memory_free_bytes")] = 80 * 0x1p30;
  device.row[device_metric("gpu_utilization_percent")] = 0;
  return device;
}

inline Device make_instance(const Device &parent, std::uint32_t number, const std::string &uuid, double gi, double ci) {
  auto identity = std::make_shared<DeviceIdentity>(*parent.identity);
  identity->parent = parent.identity->uuid;
  identity->uuid = uuid;
  auto details = std::make_shared<DeviceDetails>();
  details->row[detail_metric("gpu_instance_id")] = gi;
  details->row[detail_metric("compute_instance_id")] = ci;
  Device device = parent;
  device.id.instance = number;
  device.identity = std::move(identity);
  device.details = std::move(details);
  device.row[device_metric("gpu_utilization_percent")] = Reason::not_supported;
  return device;
}

inline Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char *name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace gpulse::pick

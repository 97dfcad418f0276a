// SPDX-License-Identifier: Apache-2.0
#include "sink/device_filter.hpp"

#include <algorithm>

namespace gpulse::sink {

bool DeviceFilter::wants(const Device &device) const {
  if (uuids_.empty()) return true;
  if (device.identity == nullptr) return false;
  const auto &identity = *device.identity;
  return std::ranges::any_of(uuids_,
                             [&](const std::string &uuid) { return identity.uuid == uuid || identity.parent == uuid; });
}

std::optional<Snapshot> DeviceFilter::part_of(const Snapshot &snapshot) const {
  if (uuids_.empty()) return std::nullopt;
  Snapshot part = snapshot;
  std::erase_if(part.devices, [&](const Device &device) { return !wants(device); });
  std::erase_if(part.processes, [&](const Process &process) {
    return std::ranges::none_of(part.devices, [&](const Device &device) { return is_on(process.device, device); });
  });
  return part;
}

}  // namespace gpulse::sink

// SPDX-License-Identifier: Apache-2.0
// The devices that a sink is about, by UUID.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/snapshot.hpp"

namespace gpulse::sink {

class DeviceFilter {
 public:
  // None: all devices.
  explicit DeviceFilter(std::vector<std::string> uuids) : uuids_(std::move(uuids)) {}

  bool wants(const Device &device) const;
  // The snapshot without other devices and their processes; none where all are wanted.
  std::optional<Snapshot> part_of(const Snapshot &snapshot) const;

 private:
  std::vector<std::string> uuids_;
};

}  // namespace gpulse::sink

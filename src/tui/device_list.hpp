// SPDX-License-Identifier: Apache-2.0
// The devices of a snapshot as the list on the screen has them: sorted, without idle ones, in groups, added up. Pure.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "tui/settings.hpp"

namespace gpulse::tui {

struct DeviceLine {
  const Device *device = nullptr;  // in the snapshot, or in DeviceList::totals
  std::size_t count = 0;           // of a total: how many devices
  std::string name{};              // of a total: whose

  bool is_total() const { return count > 0; }
};

struct DeviceList {
  std::vector<DeviceLine> lines;  // each device, each group's total before its devices
  std::vector<DeviceLine> all;    // the total of all; none where devices are few
  std::deque<Device> totals;
  std::size_t devices = 0;  // among the lines
  std::size_t hidden = 0;   // idle ones that are not
};

// From so many devices on there is a total of all; instances do not count.
inline constexpr std::size_t kDevicesWithTotal = 9;

// The snapshot must outlive the list. Instances stay below the device they are part of.
DeviceList list_devices(const Snapshot &snapshot, const Settings &settings);

// Shares as their mean, temperatures as the highest, quantities as their sum; nothing else adds up.
Device add_up(const std::vector<const Device *> &devices);

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
#include "view/event_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpulse::view {

std::string event_place(const Snapshot &snapshot, const Event &event) {
  const auto found = std::ranges::find_if(snapshot.devices, [&](const Device &device) {
    return device.identity && !event.device.empty() && device.identity->uuid == event.device;
  });
  return found == snapshot.devices.end() ? event.device.str() : fmt::format("GPU {}", text(found->id));
}

}  // namespace gpulse::view

// SPDX-License-Identifier: Apache-2.0
#include "source/intel/device.hpp"

#include "source/intel/memory.hpp"
#include "source/sysfs/hwmon.hpp"

namespace gpulse::intel {

namespace {

// Integrated graphics is always at the same bus address. In a virtual machine a card may be there too, but a card has
// sensors or memory of its own.
bool is_integrated(const Sysroot &root, const drm::Card &card) {
  if (card.driver == kNpu) return true;
  if (!card.pci.ends_with(":00:02.0")) return false;
  const auto capacity = root.read("/sys/fs/cgroup/dmem.capacity").value_or("");
  return !parse_dmem_capacity(capacity, card.pci) && sysfs::find_hwmon(root, card.device, card.driver).empty();
}

}  // namespace

std::unique_ptr<Device> make_device(const ReaderContext &context, const drm::Card &card) {
  auto device = std::make_unique<Device>();
  device->card = card;
  // Looking for its files would wake it; discovery runs again when it wakes.
  if (card.asleep) return device;
  device->integrated = is_integrated(context.root, card);
  device->link = drm::find_pcie_link(context.root, card);
  if (card.driver != kNpu) {
    device->gts = find_gts(context.root, card);
    device->engines = find_engines(context.root, card);
    device->sensors = find_sensors(context.root, card, device->integrated);
  }
  device->idle.resize(device->gts.size());
  device->energy.resize(device->sensors.energy.size());
  // A recorded machine may have no /proc: then the device's users are unknown.
  if (context.root.exists("/proc")) {
    device->clients.emplace(context.root, context.device_users, card,
                            drm::ClientRules{.integrated = device->integrated, .silent_when_idle = device->engines});
  }
  return device;
}

}  // namespace gpulse::intel

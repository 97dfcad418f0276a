// SPDX-License-Identifier: Apache-2.0
#include "model/select.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace gpulse {

namespace {

// 00000000:01:00.0 and 01:00.0 are other ways to write 0000:01:00.0.
std::string kernel_pci(std::string text) {
  if (text.size() == 16 && text.starts_with("0000")) text.erase(0, 4);
  if (text.size() == 7) text.insert(0, "0000:");
  return text;
}

}  // namespace

bool is_selected(const Device &device, std::string_view selector) {
  if (const auto id = parse_device_id(selector)) return device.id == *id;
  const auto wanted = lower(selector);
  const auto uuid = lower(device.identity->uuid);
  // A prefix as short as "g" would fit everything.
  constexpr std::size_t kShortestPrefix = 5;
  return lower(device.identity->vendor) == wanted || uuid == wanted ||
         (wanted.size() >= kShortestPrefix && uuid.starts_with(wanted)) ||
         (!device.identity->pci.empty() && lower(device.identity->pci) == kernel_pci(wanted));
}
Result<SnapshotPtr> select_devices(const SnapshotPtr &snapshot, const std::vector<std::string> &selectors) {
  std::set<DeviceId> chosen;
  for (const auto &list : selectors) {
    for (const auto piece : split(list, ',')) {
      const auto selector = trim(piece);
      bool any = false;
      for (const auto &device : snapshot->devices) {
        if (!is_selected(device, selector)) continue;
        chosen.insert(device.id);
        any = true;
      }
      if (!any) {
        return failure("no device \"" + std::string(selector) + "\"",
                       "give a number (0, or 0:1 for an instance), UUID, PCI address or vendor");
      }
    }
  }
  auto part = std::make_shared<Snapshot>(*snapshot);
  std::erase_if(part->devices, [&](const Device &device) {
    return !chosen.contains(device.id) && !chosen.contains({.index = device.id.index});
  });
  std::erase_if(part->processes, [&](const Process &process) {
    return std::none_of(part->devices.begin(), part->devices.end(),
                        [&](const Device &device) { return device.id == process.device; });
  });
  return part;
}

}  // namespace gpulse

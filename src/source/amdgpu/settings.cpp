// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/settings.hpp"

#include <algorithm>
#include <cmath>

#include "source/drm/card.hpp"
#include "source/sysfs/attribute.hpp"
#include "source/sysfs/hwmon.hpp"
#include "source/sysfs/write.hpp"

namespace gpulse::amdgpu {

SettingResult set(const Sysroot &root, const DeviceIdentity &device, const Setting &setting) {
  if (setting.kind != SettingKind::power_limit || device.pci.empty()) return setting_not_supported();
  const auto cards = drm::list_cards(root, [](std::string_view driver) { return driver == "amdgpu"; });
  const auto card =
      std::find_if(cards.begin(), cards.end(), [&](const drm::Card &candidate) { return candidate.pci == device.pci; });
  if (card == cards.end()) return setting_not_supported();
  const auto sensors = sysfs::find_hwmon(root, card->device, card->driver);
  if (sensors.empty()) return setting_not_supported();
  constexpr double kMicrowatts = 1e6;
  const auto text = setting.to_default ? sysfs::read_word(root, sensors + "/power1_cap_default")
                                       : std::to_string(std::llround(setting.low * kMicrowatts));
  if (text.empty()) return setting_not_supported();
  return sysfs::write_attribute(root, sensors + "/power1_cap", text);
}

}  // namespace gpulse::amdgpu

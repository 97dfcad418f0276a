// SPDX-License-Identifier: Apache-2.0
#include "source/sysfs/hwmon.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::sysfs {

std::string find_hwmon(const Sysroot &root, const std::string &device, std::string_view name) {
  std::string unnamed;
  for (const auto &entry : root.list(device + "/hwmon")) {
    auto folder = device + "/hwmon/" + entry;
    const auto own = read_word(root, folder + "/name");
    if (own == name) return folder;
    // Sensors without a name in the device's own folder can only be its own.
    if (own.empty()) unnamed = std::move(folder);
  }
  return unnamed;
}

std::optional<SensorName> parse_sensor_name(std::string_view file) {
  constexpr std::array<std::string_view, 8> kKinds{"temp", "fan", "power", "energy", "freq", "in", "curr", "pwm"};
  const auto stem = file.substr(0, file.find('_'));
  const auto digits = stem.find_first_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const auto kind = stem.substr(0, digits);
  const auto number = parse_integer<int>(stem.substr(digits));
  if (!number || std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) return std::nullopt;
  return SensorName{.kind = kind, .number = *number, .stem = stem};
}

std::vector<Sensor> list_sensors(const Sysroot &root, const std::string &hwmon) {
  std::vector<Sensor> sensors;
  for (const auto &file : root.list(hwmon)) {
    const auto name = parse_sensor_name(file);
    if (!name) continue;
    const bool known = std::any_of(sensors.begin(), sensors.end(),
                                   [&](const Sensor &s) { return s.kind == name->kind && s.number == name->number; });
    if (known) continue;
    auto path = hwmon + "/" + std::string(name->stem);
    auto label = read_word(root, path + "_label");
    sensors.push_back(
        {.path = std::move(path), .kind = std::string(name->kind), .number = name->number, .label = std::move(label)});
  }
  std::sort(sensors.begin(), sensors.end(),
            [](const Sensor &a, const Sensor &b) { return std::tie(a.kind, a.number) < std::tie(b.kind, b.number); });
  return sensors;
}

}  // namespace gpulse::sysfs

// SPDX-License-Identifier: Apache-2.0
// A device's sensors as the kernel's hwmon shows them. Their numbers differ from card to card, so go by the label.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sysroot.hpp"

namespace gpulse::sysfs {

// The folder of the device's sensors by the name the driver gave them ("amdgpu", "xe"); empty when there is none.
std::string find_hwmon(const Sysroot &root, const std::string &device, std::string_view name);

struct Sensor {
  std::string path;   // …/hwmon3/temp2, to be followed by "_input" and the like
  std::string kind;   // "temp", "fan", "power", "energy", "freq", "in", "curr", "pwm"
  int number = 0;     // 2
  std::string label;  // "junction"; empty where the driver gives none
};

// "temp" and 2 for "temp2_input"; none when the file is not a sensor's. Points into the name.
struct SensorName {
  std::string_view kind;
  int number = 0;
  std::string_view stem;  // "temp2"
};
std::optional<SensorName> parse_sensor_name(std::string_view file);

// All sensors of the folder, by kind and number.
std::vector<Sensor> list_sensors(const Sysroot &root, const std::string &hwmon);

}  // namespace gpulse::sysfs

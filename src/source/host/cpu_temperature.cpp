// SPDX-License-Identifier: Apache-2.0
#include "source/host/cpu_temperature.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "source/host/sensor_file.hpp"

namespace gpulse::host {

namespace {

constexpr double kMilli = 1e-3;

// A driver's sensors for a whole processor, the best first; without a label it is the first sensor.
struct Known {
  std::string_view driver;
  std::string_view label;  // how it begins
};
constexpr std::array kKnown{
    Known{"coretemp", "Package id"},
    Known{"coretemp", "Physical id"},
    Known{"coretemp", "Core "},
    // Tctl is what fans are steered by: on some models it is the temperature and 20 degrees more.
    Known{"k10temp", "Tdie"},
    Known{"k10temp", "Tctl"},
    Known{"k10temp", ""},
    Known{"zenpower", "Tdie"},
    Known{"zenpower", "Tctl"},
    Known{"cpu_thermal", ""},
};

void add_sensors(const Sysroot &root, const std::string &folder, std::vector<std::string> &files) {
  constexpr std::string_view kInput = "_input";
  const auto driver = read_name(root, folder + "/name");
  const bool known = std::any_of(kKnown.begin(), kKnown.end(), [&](const Known &k) { return k.driver == driver; });
  // The files of any other driver are not touched: a sleeping device could wake.
  if (!known) return;
  const auto before = files.size();
  for (const auto &[name, wanted] : kKnown) {
    if (name != driver || files.size() > before) continue;
    for (const auto &entry : root.list(folder)) {
      if (!entry.starts_with("temp") || !entry.ends_with(kInput)) continue;
      const auto stem = folder + "/" + entry.substr(0, entry.size() - kInput.size());
      const auto label = read_name(root, stem + "_label");
      if (wanted.empty() ? entry == "temp1_input" : label.starts_with(wanted)) files.push_back(stem + "_input");
    }
  }
}

bool is_of_processor(std::string_view type) {
  return type == "x86_pkg_temp" || type.starts_with("cpu") || type.starts_with("CPU");
}

std::vector<std::string> find_files(const Sysroot &root) {
  constexpr std::string_view kSensors = "/sys/class/hwmon/", kZones = "/sys/class/thermal/";
  std::vector<std::string> files;
  for (const auto &entry : root.list(kSensors)) add_sensors(root, std::string(kSensors) + entry, files);
  if (!files.empty()) return files;
  for (const auto &entry : root.list(kZones)) {
    const auto folder = std::string(kZones) + entry;
    if (entry.starts_with("thermal_zone") && is_of_processor(read_name(root, folder + "/type"))) {
      files.push_back(folder + "/temp");
    }
  }
  return files;
}

// The hottest of those that tell; where none does, why the first does not.
Reading hottest(const Sysroot &root, const std::vector<std::string> &files, std::string &buffer) {
  std::optional<Reading> found;
  for (const auto &file : files) {
    const auto reading = read_sensor(root, file, host_metric("cpu_temperature_celsius"), kMilli, buffer);
    if (!found || (reading && reading.value() > found->value_or(-1e3))) found = reading;
  }
  return found.value_or(Reason::not_supported);
}

}  // namespace

Reading CpuTemperature::read(const Sysroot &root) {
  const auto vanished = [&](const std::string &file) { return !root.exists(file); };
  if (files_.empty() || std::any_of(files_.begin(), files_.end(), vanished)) files_ = find_files(root);
  return hottest(root, files_, buffer_);
}

}  // namespace gpulse::host

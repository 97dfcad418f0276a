// SPDX-License-Identifier: Apache-2.0
#include "source/host/cpu_temperature.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "source/sysfs/attribute.hpp"
#include "source/sysfs/hwmon.hpp"

namespace gpulse::host {

namespace {

constexpr double kMilli = 1e-3;

// A driver's sensors for a whole processor, best first; the first sensor where none has a label.
struct Known {
  std::string_view driver;
  std::string_view label;  // a prefix
};
constexpr std::array kKnown{
    Known{"coretemp", "Package id"},
    Known{"coretemp", "Physical id"},
    Known{"coretemp", "Core "},
    // Tctl is meant for fan control: on some models it is 20 °C above the temperature.
    Known{"k10temp", "Tdie"},
    Known{"k10temp", "Tctl"},
    Known{"k10temp", ""},
    Known{"zenpower", "Tdie"},
    Known{"zenpower", "Tctl"},
    Known{"cpu_thermal", ""},
};

void add_sensors(const Sysroot &root, const std::string &folder, std::vector<std::string> &files) {
  const auto driver = sysfs::read_word(root, folder + "/name");
  const bool known = std::any_of(kKnown.begin(), kKnown.end(), [&](const Known &k) { return k.driver == driver; });
  // Files of other drivers are not touched: reading them could wake a device.
  if (!known) return;
  const auto before = files.size();
  for (const auto &[name, wanted] : kKnown) {
    if (name != driver || files.size() > before) continue;
    for (const auto &sensor : sysfs::list_sensors(root, folder)) {
      if (sensor.kind != "temp") continue;
      if (wanted.empty() ? sensor.number == 1 : sensor.label.starts_with(wanted))
        files.push_back(sensor.path + "_input");
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
    if (entry.starts_with("thermal_zone") && is_of_processor(sysfs::read_word(root, folder + "/type"))) {
      files.push_back(folder + "/temp");
    }
  }
  return files;
}

// The hottest sensor that can be read; if none can, the first one's reason.
Reading hottest(const Sysroot &root, const std::vector<std::string> &files, std::string &buffer) {
  std::optional<Reading> found;
  for (const auto &file : files) {
    auto reading = sysfs::read_attribute(root, file, host_metric("cpu_temperature_celsius"), kMilli, buffer);
    // A running processor has a temperature: an empty file means a broken sensor.
    if (reading.is(Reason::not_supported) && root.exists(file)) reading = Reason::error;
    if (!found || (reading && reading.value() > found->value_or(-1e3))) found = reading;
  }
  return found.value_or(Reason::not_supported);
}

}  // namespace

Reading CpuTemperature::read(const Sysroot &root) {
  const auto vanished = [&](const std::string &file) { return !root.exists(file); };
  // A machine without any sensor hardly ever gets one later.
  constexpr auto kLookAgain = std::chrono::seconds(10);
  const auto now = monotonic_now();
  const bool none = files_.empty() && (!root.is_machine() || !looked_ || now - *looked_ >= kLookAgain);
  if (none || std::any_of(files_.begin(), files_.end(), vanished)) {
    files_ = find_files(root);
    looked_ = now;
  }
  return hottest(root, files_, buffer_);
}

}  // namespace gpulse::host

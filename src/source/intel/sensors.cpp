// SPDX-License-Identifier: Apache-2.0
#include "source/intel/sensors.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "source/sysfs/attribute.hpp"
#include "source/sysfs/hwmon.hpp"

namespace gpulse::intel {

namespace {

constexpr double kMilli = 1e-3, kMicro = 1e-6;
constexpr std::string_view kPackage = "pkg", kBoard = "card";

// i915 has no labels: its counter is that of the package.
bool is_of(const sysfs::Sensor &sensor, std::string_view label) {
  return sensor.label == label || (sensor.label.empty() && label == kPackage);
}

void add_temperature(const Sysroot &root, const sysfs::Sensor &sensor, Sensors &out) {
  const auto add = [&](std::vector<SensorFile> &list, std::string_view file, MetricId metric) {
    auto path = sensor.path + std::string(file);
    if (root.exists(path)) list.push_back({std::move(path), metric, kMilli});
  };
  if (is_of(sensor, kPackage)) {
    add(out.now, "_input", device_metric("temperature_gpu_celsius"));
    add(out.fixed, "_max", device_metric("temperature_gpu_max_celsius"));
    add(out.fixed, "_crit", device_metric("temperature_slowdown_celsius"));
    add(out.fixed, "_emergency", device_metric("temperature_shutdown_celsius"));
  } else if (sensor.label == "vram") {
    add(out.now, "_input", device_metric("temperature_memory_celsius"));
    add(out.fixed, "_crit", device_metric("temperature_memory_max_celsius"));
  }
}

// The file's number, or none; a limit of 0 means that there is none.
double read_watts(const Sysroot &root, const std::string &path) {
  const auto value = parse_double(sysfs::read_word(root, path));
  return value ? *value * kMicro : 0;
}

void add_limits(const Sysroot &root, std::span<const sysfs::Sensor> sensors, std::string_view label, Sensors &out) {
  struct Limit {
    std::string_view file;
    MetricId metric;
  };
  // The second limit (cap) applies to milliseconds, the critical one to an instant.
  constexpr std::array kLimits{Limit{"_max", device_metric("power_limit_watts")},
                               Limit{"_rated_max", device_metric("power_limit_default_watts")},
                               Limit{"_cap", device_metric("power_limit_fast_watts")},
                               Limit{"_crit", device_metric("power_limit_fast_watts")}};
  for (const auto &sensor : sensors) {
    if (sensor.kind != "power" || !is_of(sensor, label)) continue;
    for (const auto &[file, metric] : kLimits) {
      auto path = sensor.path + std::string(file);
      const auto watts = read_watts(root, path);
      if (watts <= 0) continue;
      out.max_watts = std::max(out.max_watts, watts);
      out.limits.push_back({std::move(path), metric, kMicro});
    }
  }
}

void add_energy(std::span<const sysfs::Sensor> sensors, std::string_view label, Sensors &out) {
  for (const auto &sensor : sensors) {
    if (sensor.kind != "energy" || !is_of(sensor, label)) continue;
    out.energy.push_back({{sensor.path + "_input"}, label == kPackage, 0});
  }
}

// Boards with several tiles have a counter for each: the package is their sum.
void add_energy_of_tiles(const Sysroot &root, const drm::Card &card, Sensors &out) {
  EnergyCounter sum{.paths = {}, .package = true};
  for (const auto &entry : root.list(card.device + "/hwmon")) {
    const auto folder = card.device + "/hwmon/" + entry;
    auto path = folder + "/energy1_input";
    if (sysfs::read_word(root, folder + "/name").starts_with("i915_gt") && root.exists(path)) {
      sum.paths.push_back(std::move(path));
    }
  }
  if (!sum.paths.empty()) out.energy.push_back(std::move(sum));
}

void find_board_sensors(const Sysroot &root, const drm::Card &card, Sensors &out) {
  const auto hwmon = sysfs::find_hwmon(root, card.device, card.driver);
  const auto sensors = hwmon.empty() ? std::vector<sysfs::Sensor>() : sysfs::list_sensors(root, hwmon);
  for (const auto &sensor : sensors) {
    if (sensor.kind == "temp") add_temperature(root, sensor, out);
    if (sensor.kind == "fan" && root.exists(sensor.path + "_input")) out.fans.push_back(sensor.path + "_input");
    if (sensor.kind == "in" && is_of(sensor, kPackage)) {
      out.now.push_back({sensor.path + "_input", device_metric("voltage_graphics_volts"), kMilli});
    }
  }
  for (const auto label : {kBoard, kPackage}) {
    add_limits(root, sensors, label, out);
    add_energy(sensors, label, out);
  }
  if (out.energy.empty()) add_energy_of_tiles(root, card, out);
}

// The graphics part of the processor's energy counters. Only root may read it, because it is a side channel.
void find_processor_energy(const Sysroot &root, Sensors &out) {
  constexpr std::string_view kZones = "/sys/class/powercap";
  for (const auto &entry : root.list(kZones)) {
    if (!entry.starts_with("intel-rapl:0:")) continue;
    const auto folder = std::string(kZones) + "/" + entry;
    if (sysfs::read_word(root, folder + "/name") != "uncore") continue;
    out.energy.push_back(
        {{folder + "/energy_uj"}, false, root.read_number(folder + "/max_energy_range_uj").value_or(0)});
    return;
  }
}

void find_processor_temperature(const Sysroot &root, Sensors &out) {
  constexpr std::string_view kSensors = "/sys/class/hwmon";
  for (const auto &entry : root.list(kSensors)) {
    const auto folder = std::string(kSensors) + "/" + entry;
    if (sysfs::read_word(root, folder + "/name") != "coretemp") continue;
    for (const auto &sensor : sysfs::list_sensors(root, folder)) {
      if (sensor.kind != "temp" || sensor.label != "Package id 0") continue;
      out.now.push_back({sensor.path + "_input", device_metric("temperature_gpu_celsius"), kMilli});
      // Above it the processor throttles itself, including its graphics.
      out.fixed.push_back({sensor.path + "_crit", device_metric("temperature_slowdown_celsius"), kMilli});
      return;
    }
  }
}

}  // namespace

Sensors find_sensors(const Sysroot &root, const drm::Card &card, bool integrated) {
  Sensors out;
  find_board_sensors(root, card, out);
  if (integrated) {
    if (out.energy.empty()) find_processor_energy(root, out);
    find_processor_temperature(root, out);
  }
  return out;
}

}  // namespace gpulse::intel

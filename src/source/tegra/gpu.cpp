// SPDX-License-Identifier: Apache-2.0
#include "source/tegra/gpu.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "source/sysfs/attribute.hpp"
#include "source/sysfs/hwmon.hpp"

namespace gpulse::tegra {

namespace {

using namespace std::string_view_literals;

// Newer kernels call all of them "gpu".
constexpr std::array kChips{"gpu"sv, "ga10b"sv, "gv11b"sv, "gp10b"sv, "gm20b"sv};

// Rails for the GPU alone come first; the last ones feed other parts too.
constexpr std::array kRails{"VDD_GPU"sv, "GPU"sv, "VDD_SYS_GPU"sv, "POM_5V_GPU"sv, "VDD_GPU_SOC"sv, "VDD_CPU_GPU_CV"sv};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// "17000000.gpu" and the like; a device tree also has nodes such as "17000000.gpu-thermal".
bool is_gpu_name(std::string_view name) {
  const auto dot = name.find('.');
  return dot != std::string_view::npos && std::find(kChips.begin(), kChips.end(), name.substr(dot + 1)) != kChips.end();
}

// Other vendors' GPUs are platform devices with the same name.
std::string chip_of(const Sysroot &root, const std::string &device) {
  constexpr std::string_view kMaker = "nvidia,";
  const auto name = sysfs::read_uevent(root, device, "OF_COMPATIBLE_0");
  return name.starts_with(kMaker) ? name.substr(kMaker.size()) : std::string();
}

bool is_tegra(const Sysroot &root) {
  const auto text = root.read("/proc/device-tree/compatible", 4096).value_or("");
  return text.find("nvidia,tegra") != std::string::npos;
}

std::vector<std::string> candidates(const Sysroot &root) {
  std::vector<std::string> found{"/sys/devices/gpu.0"};
  for (const std::string folder : {"/sys/devices/platform/bus@0", "/sys/devices/platform", "/sys/devices"}) {
    for (const auto &name : root.list(folder)) {
      if (is_gpu_name(name)) found.push_back(folder + "/" + name);
    }
  }
  return found;
}

std::string find_devfreq(const Sysroot &root, const std::string &device) {
  for (const auto &name : root.list(device + "/devfreq")) return device + "/devfreq/" + name;
  auto folder = "/sys/class/devfreq" + device.substr(device.rfind('/'));
  return root.exists(folder) ? folder : std::string();
}

std::string find_zone(const Sysroot &root) {
  const std::string zones = "/sys/class/thermal/";
  for (const auto &name : root.list(zones)) {
    if (!name.starts_with("thermal_zone")) continue;
    const auto type = lower(sysfs::read_word(root, zones + name + "/type"));
    if (type.starts_with("gpu") && type.find("therm") != std::string::npos) return zones + name;
  }
  return {};
}

struct Found {
  std::size_t rank = kRails.size();
  Rail rail;

  void offer(std::string_view label, Rail other) {
    const auto place = static_cast<std::size_t>(std::find(kRails.begin(), kRails.end(), label) - kRails.begin());
    if (place >= rank) return;
    rank = place;
    rail = std::move(other);
  }
};

void look_at_hwmon(const Sysroot &root, const std::string &folder, Found &found) {
  if (sysfs::read_word(root, folder + "/name") != "ina3221") return;
  for (const auto &sensor : sysfs::list_sensors(root, folder)) {
    if (sensor.kind != "in") continue;
    found.offer(sensor.label, {.millivolts = sensor.path + "_input",
                               .milliamperes = folder + "/curr" + std::to_string(sensor.number) + "_input",
                               .milliwatts = {}});
  }
}

// Kernels up to 4.9 use NVIDIA's own driver for the same sensor chip.
void look_at_iio(const Sysroot &root, const std::string &folder, Found &found) {
  for (const auto &name : root.list(folder)) {
    if (!name.starts_with("iio:device")) continue;
    for (const auto *channel : {"0", "1", "2"}) {
      const auto stem = folder + "/" + name;
      found.offer(sysfs::read_word(root, stem + "/rail_name_" + channel),
                  {.millivolts = {}, .milliamperes = {}, .milliwatts = stem + "/in_power" + channel + "_input"});
    }
  }
}

}  // namespace

std::optional<Gpu> find_gpu(const Sysroot &root) {
  // On every other machine the search ends here, after two look-ups.
  if (!root.exists("/proc/device-tree") && !root.exists("/sys/devices/gpu.0")) return std::nullopt;
  for (const auto &device : candidates(root)) {
    if (!root.exists(device + "/load")) continue;
    auto chip = chip_of(root, device);
    if (chip.empty() && !is_tegra(root)) continue;
    return Gpu{.device = device, .devfreq = find_devfreq(root, device), .zone = find_zone(root), .chip = chip};
  }
  return std::nullopt;
}

Rail find_rail(const Sysroot &root) {
  const std::string sensors = "/sys/class/hwmon/", bus = "/sys/bus/i2c/drivers/ina3221x/";
  Found found;
  for (const auto &name : root.list(sensors)) look_at_hwmon(root, sensors + name, found);
  for (const auto &name : root.list(bus)) look_at_iio(root, bus + name, found);
  return found.rail;
}

}  // namespace gpulse::tegra

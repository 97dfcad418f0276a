// SPDX-License-Identifier: Apache-2.0
// Made-up Jetsons. No board was at hand: the paths are from public documents, the values are invented.
#include "source/tegra/tegra_source.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/temporary_folder.hpp"
#include "source/tegra/gpu.hpp"

namespace gpulse::tegra {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

class TegraTest : public testing::Test {
 protected:
  // An Orin as JetPack 6 shows it.
  void make_orin() {
    folder.write("/proc/device-tree/model", "NVIDIA Jetson AGX Orin Developer Kit\0"sv);
    folder.write("/proc/device-tree/serial-number", "1421221012345\0"sv);
    folder.write("/proc/device-tree/compatible",
                 "nvidia,p3737-0000+p3701-0000\0nvidia,p3701-0000\0nvidia,tegra234\0"sv);
    folder.write("/etc/nv_tegra_release",
                 "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\n");
    folder.write(kGpu + "/load", "455\n");
    folder.write(kGpu + "/uevent", "DRIVER=gk20a\nOF_NAME=gpu\nOF_COMPATIBLE_0=nvidia,ga10b\nOF_COMPATIBLE_N=1\n");
    folder.write(kGpu + "/power/runtime_status", "active\n");
    folder.write(kGpu + "/devfreq/17000000.gpu/cur_freq", "611000000\n");
    folder.write(kGpu + "/devfreq/17000000.gpu/max_freq", "1300500000\n");
    folder.write("/sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
    folder.write("/sys/class/thermal/thermal_zone0/temp", "51000\n");
    folder.write(kZone + "/type", "gpu-thermal\n");
    folder.write(kZone + "/temp", "47718\n");
    folder.write(kZone + "/trip_point_0_type", "passive\n");
    folder.write(kZone + "/trip_point_0_temp", "99000\n");
    folder.write(kZone + "/trip_point_1_type", "critical\n");
    folder.write(kZone + "/trip_point_1_temp", "104500\n");
    write_rails("hwmon3");
    folder.write("/proc/meminfo",
                 "MemTotal: 30000000 kB\nMemFree: 5 kB\nMemAvailable: 20000000 kB\nNvMapMemUsed: 1500000 kB\n");
  }
  void write_rails(const std::string &name) {
    const auto rails = "/sys/class/hwmon/" + name;
    folder.write(rails + "/name", "ina3221\n");
    folder.write(rails + "/in1_label", "VDD_GPU_SOC\n");
    folder.write(rails + "/in1_input", "19200\n");
    folder.write(rails + "/curr1_input", "250\n");
    folder.write(rails + "/in2_label", "VDD_CPU_CV\n");
    folder.write(rails + "/in2_input", "19200\n");
    folder.write(rails + "/curr2_input", "999\n");
  }

  Discovery discover() { return source->discover(); }
  void read_all() {
    for (std::size_t i = 0; i < source->readers().size(); ++i) {
      EXPECT_EQ(source->read(0, i, Monotonic(1s), frame), Outcome::ok);
    }
  }
  const Reading &operator[](std::string_view key) const { return frame.row[*find_metric(Scope::device, key)]; }
  double number(std::string_view key) const { return (*this)[key].value_or(std::nan("")); }

  const std::string kGpu = "/sys/devices/platform/bus@0/17000000.gpu";
  const std::string kZone = "/sys/class/thermal/thermal_zone1";
  TemporaryFolder folder;
  std::unique_ptr<Source> source = make_source(folder.root(), {});
  Frame frame{Row(Scope::device), {}};
};

TEST_F(TegraTest, OtherMachinesHaveNone) {
  EXPECT_TRUE(discover().entities.empty());
  EXPECT_TRUE(discover().problem.empty());
  EXPECT_FALSE(source->changed());
  // Another vendor's board with a GPU in the same place.
  folder.write("/proc/device-tree/compatible", "rockchip,rk3588\0"sv);
  folder.write("/sys/devices/platform/fb000000.gpu/load", "12\n");
  folder.write("/sys/devices/platform/fb000000.gpu/uevent", "OF_COMPATIBLE_0=arm,mali-bifrost\n");
  EXPECT_TRUE(discover().entities.empty());
}

TEST_F(TegraTest, AnOrinTellsEverything) {
  make_orin();
  EXPECT_TRUE(source->changed());
  const auto found = discover();
  ASSERT_EQ(found.entities.size(), 1U);
  EXPECT_FALSE(source->changed());
  const auto &identity = *found.entities[0].identity;
  EXPECT_EQ(identity.source, "tegra");
  EXPECT_EQ(identity.vendor, "nvidia");
  EXPECT_EQ(identity.name, "NVIDIA Jetson AGX Orin Developer Kit");
  EXPECT_EQ(identity.uuid, "TEGRA-1421221012345");
  EXPECT_EQ(identity.driver, "nvgpu 36.4.3");
  EXPECT_EQ(identity.pci, "");
  EXPECT_EQ(identity.texts[device_metric("architecture")], TextReading("Ampere"));
  read_all();
  EXPECT_DOUBLE_EQ(number("gpu_utilization_percent"), 45.5);
  EXPECT_EQ(number("clock_graphics_mhz"), 611);
  EXPECT_EQ(number("clock_sm_mhz"), 611);
  EXPECT_DOUBLE_EQ(number("clock_max_graphics_mhz"), 1300.5);
  EXPECT_EQ(number("memory_total_bytes"), 30000000.0 * 1024);
  EXPECT_EQ(number("memory_used_bytes"), 10000000.0 * 1024);
  EXPECT_EQ(number("memory_free_bytes"), 20000000.0 * 1024);
  EXPECT_EQ(number("memory_gtt_used_bytes"), 1500000.0 * 1024);
  EXPECT_DOUBLE_EQ(number("temperature_gpu_celsius"), 47.718);
  EXPECT_EQ(number("temperature_shutdown_celsius"), 104.5);
  EXPECT_DOUBLE_EQ(number("power_draw_watts"), 4.8);  // 19.2 V, 0.25 A
}

TEST_F(TegraTest, EveryMetricHasOneReader) {
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    int readers = 0;
    for (const auto &reader : source->readers()) {
      for (const auto filled : reader.fills) readers += filled == id ? 1 : 0;
    }
    EXPECT_LE(readers, 1) << metric.key;
  });
}

TEST_F(TegraTest, OlderBoardsHaveItElsewhere) {
  folder.write("/proc/device-tree/compatible", "nvidia,p3450-0000\0nvidia,jetson-nano\0nvidia,tegra210\0"sv);
  folder.write("/proc/device-tree/model", "NVIDIA Jetson Nano Developer Kit\0"sv);
  folder.write("/sys/devices/gpu.0/load", "1000\n");
  folder.write("/sys/devices/gpu.0/devfreq/57000000.gpu/cur_freq", "921600000\n");
  folder.write("/sys/class/thermal/thermal_zone2/type", "GPU-therm\n");
  folder.write("/sys/class/thermal/thermal_zone2/temp", "35500\n");
  // NVIDIA's own sensor driver of kernel 4.9.
  const std::string rails = "/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0";
  folder.write(rails + "/rail_name_0", "POM_5V_IN\n");
  folder.write(rails + "/in_power0_input", "5000\n");
  folder.write(rails + "/rail_name_1", "POM_5V_GPU\n");
  folder.write(rails + "/in_power1_input", "1234\n");
  ASSERT_EQ(discover().entities.size(), 1U);
  read_all();
  EXPECT_EQ(number("gpu_utilization_percent"), 100);
  EXPECT_DOUBLE_EQ(number("clock_graphics_mhz"), 921.6);
  EXPECT_EQ(number("temperature_gpu_celsius"), 35.5);
  EXPECT_DOUBLE_EQ(number("power_draw_watts"), 1.234);
  EXPECT_TRUE((*this)["memory_used_bytes"].is(Reason::not_supported)) << "no /proc/meminfo";
  EXPECT_TRUE((*this)["clock_max_graphics_mhz"].is(Reason::not_supported));
}

TEST_F(TegraTest, JetPackFiveNamesTheChip) {
  folder.write("/proc/device-tree/compatible", "nvidia,tegra194\0"sv);
  folder.write("/sys/devices/platform/17000000.gv11b/load", "10\n");
  folder.write("/sys/devices/platform/17000000.gv11b/uevent", "OF_COMPATIBLE_0=nvidia,gv11b\n");
  folder.write("/sys/class/devfreq/17000000.gv11b/cur_freq", "114750000\n");
  const auto found = discover();
  ASSERT_EQ(found.entities.size(), 1U);
  EXPECT_EQ(found.entities[0].identity->texts[device_metric("architecture")], TextReading("Volta"));
  EXPECT_EQ(found.entities[0].identity->uuid, "TEGRA-17000000.gv11b");
  EXPECT_EQ(found.entities[0].identity->name, "NVIDIA Tegra");
  EXPECT_EQ(found.entities[0].identity->driver, "nvgpu");
  read_all();
  EXPECT_EQ(number("gpu_utilization_percent"), 1);
  EXPECT_DOUBLE_EQ(number("clock_graphics_mhz"), 114.75);
}

TEST_F(TegraTest, WithoutPowerItIsIdleAndNotAsked) {
  make_orin();
  folder.write(kGpu + "/power/runtime_status", "suspended\n");
  folder.write(kGpu + "/load", "nobody reads this\n");
  folder.write(kZone + "/temp", "-256000\n");
  discover();
  read_all();
  EXPECT_EQ(number("gpu_utilization_percent"), 0);
  EXPECT_TRUE((*this)["clock_graphics_mhz"].is(Reason::asleep));
  EXPECT_TRUE((*this)["temperature_gpu_celsius"].is(Reason::asleep));
  EXPECT_EQ(number("memory_total_bytes"), 30000000.0 * 1024);
  folder.write(kGpu + "/power/runtime_status", "active\n");
  folder.write(kGpu + "/load", "7\n");
  read_all();
  EXPECT_DOUBLE_EQ(number("gpu_utilization_percent"), 0.7);
  EXPECT_TRUE((*this)["temperature_gpu_celsius"].is(Reason::out_of_range));
}

TEST_F(TegraTest, TheRailOfTheGpuAloneIsPreferred) {
  make_orin();
  folder.write("/sys/class/hwmon/hwmon9/name", "ina3221\n");
  folder.write("/sys/class/hwmon/hwmon9/in3_label", "VDD_GPU\n");
  folder.write("/sys/class/hwmon/hwmon9/in3_input", "5000\n");
  folder.write("/sys/class/hwmon/hwmon9/curr3_input", "2000\n");
  discover();
  read_all();
  EXPECT_DOUBLE_EQ(number("power_draw_watts"), 10);
  // The sensors come back under another number.
  folder.remove("/sys/class/hwmon");
  write_rails("hwmon1");
  read_all();
  EXPECT_DOUBLE_EQ(number("power_draw_watts"), 4.8);
  folder.remove("/sys/class/hwmon");
  read_all();
  EXPECT_TRUE((*this)["power_draw_watts"].is(Reason::not_supported));
}

TEST_F(TegraTest, BadFilesGiveReasonsAndSpoilNothingElse) {
  make_orin();
  discover();
  for (const auto text : {""sv, "nonsense\n"sv, "-5\n"sv, "99999999999999999999\n"sv, "\0\0\0\0"sv}) {
    folder.write(kGpu + "/load", text);
    folder.write(kGpu + "/devfreq/17000000.gpu/cur_freq", text);
    folder.write("/sys/class/hwmon/hwmon3/curr1_input", text);
    read_all();
    for (const auto *key : {"gpu_utilization_percent", "clock_graphics_mhz", "power_draw_watts"}) {
      EXPECT_FALSE((*this)[key].has_value()) << key << ' ' << text;
    }
    EXPECT_DOUBLE_EQ(number("temperature_gpu_celsius"), 47.718);
  }
  folder.write("/proc/meminfo", "MemTotal: 30000000 kB\nMemAvailable: 20000000 kB\nNvMapMemUsed: much\n");
  read_all();
  EXPECT_TRUE((*this)["memory_gtt_used_bytes"].is(Reason::error));
  EXPECT_EQ(number("memory_total_bytes"), 30000000.0 * 1024);
  folder.write("/proc/meminfo", "");
  read_all();
  EXPECT_TRUE((*this)["memory_total_bytes"].is(Reason::error));
}

TEST_F(TegraTest, TheDriverGoes) {
  make_orin();
  discover();
  folder.remove(kGpu);
  read_all();
  EXPECT_TRUE((*this)["gpu_utilization_percent"].is(Reason::not_supported));
  EXPECT_TRUE(source->changed());
  EXPECT_TRUE(discover().entities.empty());
}

}  // namespace
}  // namespace gpulse::tegra

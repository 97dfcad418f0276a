// SPDX-License-Identifier: Apache-2.0
#include "source/host/cpu_temperature.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse::host {
namespace {

class CpuTemperatureTest : public testing::Test {
 protected:
  void sensor(const std::string &hwmon, const std::string &number, std::string_view label, std::string_view value) {
    const auto stem = "/sys/class/hwmon/" + hwmon + "/temp" + number;
    if (!label.empty()) folder.write(stem + "_label", std::string(label) + "\n");
    folder.write(stem + "_input", std::string(value) + "\n");
  }
  void driver(const std::string &hwmon, std::string_view name) {
    folder.write("/sys/class/hwmon/" + hwmon + "/name", std::string(name) + "\n");
  }
  void zone(const std::string &number, std::string_view type, std::string_view value) {
    folder.write("/sys/class/thermal/thermal_zone" + number + "/type", std::string(type) + "\n");
    folder.write("/sys/class/thermal/thermal_zone" + number + "/temp", std::string(value) + "\n");
  }
  Reading read() { return temperature.read(folder.root()); }

  TemporaryFolder folder;
  CpuTemperature temperature;
};

TEST_F(CpuTemperatureTest, TheHottestPackageOfTwoIntelSockets) {
  driver("hwmon0", "acpitz");
  sensor("hwmon0", "1", "", "99000");
  driver("hwmon3", "coretemp");
  sensor("hwmon3", "1", "Package id 0", "45000");
  sensor("hwmon3", "2", "Core 0", "52000");
  driver("hwmon4", "coretemp");
  sensor("hwmon4", "1", "Package id 1", "47500");
  sensor("hwmon4", "10", "Core 8", "80000");
  EXPECT_EQ(read(), Reading(47.5));
}

TEST_F(CpuTemperatureTest, OldIntelHasCoresAlone) {
  driver("hwmon1", "coretemp");
  sensor("hwmon1", "2", "Core 0", "41000");
  sensor("hwmon1", "3", "Core 1", "43000");
  EXPECT_EQ(read(), Reading(43.0));
}

TEST_F(CpuTemperatureTest, TheDieOfAmdRatherThanWhatSteersItsFans) {
  driver("hwmon2", "k10temp");
  sensor("hwmon2", "1", "Tctl", "70125");
  sensor("hwmon2", "2", "Tdie", "50125");
  sensor("hwmon2", "3", "Tccd1", "60000");
  EXPECT_EQ(read(), Reading(50.125));
  folder.remove("/sys/class/hwmon/hwmon2/temp2_input");
  folder.remove("/sys/class/hwmon/hwmon2/temp2_label");
  EXPECT_EQ(read(), Reading(70.125));
}

TEST_F(CpuTemperatureTest, OtherDrivers) {
  driver("hwmon0", "zenpower");
  sensor("hwmon0", "1", "Tdie", "61000");
  EXPECT_EQ(read(), Reading(61.0));
  driver("hwmon0", "k10temp");  // before Zen: one sensor without a name
  folder.remove("/sys/class/hwmon/hwmon0/temp1_input");
  folder.remove("/sys/class/hwmon/hwmon0/temp1_label");
  sensor("hwmon0", "1", "", "33250");
  EXPECT_EQ(read(), Reading(33.25));
}

TEST_F(CpuTemperatureTest, ThermalZonesWhereThereIsNoSensor) {
  zone("0", "acpitz", "27800");
  zone("1", "GPU-therm", "51000");
  zone("2", "CPU-therm", "48500");
  EXPECT_EQ(read(), Reading(48.5));
  folder.remove("/sys/class/thermal/thermal_zone2");
  zone("3", "x86_pkg_temp", "56000");
  EXPECT_EQ(read(), Reading(56.0));
}

TEST_F(CpuTemperatureTest, FindsASensorAgainThatGotAnotherNumber) {
  driver("hwmon3", "coretemp");
  sensor("hwmon3", "1", "Package id 0", "45000");
  EXPECT_EQ(read(), Reading(45.0));
  folder.remove("/sys/class/hwmon/hwmon3");
  EXPECT_TRUE(read().is(Reason::not_supported));
  driver("hwmon5", "coretemp");
  sensor("hwmon5", "1", "Package id 0", "46000");
  EXPECT_EQ(read(), Reading(46.0));
}

TEST_F(CpuTemperatureTest, BadSensorsGiveReasons) {
  driver("hwmon0", "coretemp");
  sensor("hwmon0", "1", "Package id 0", "hot");
  EXPECT_TRUE(read().is(Reason::error));
  sensor("hwmon0", "1", "Package id 0", "999000000");
  EXPECT_TRUE(read().is(Reason::out_of_range));
  sensor("hwmon0", "1", "Package id 0", "");
  EXPECT_TRUE(read().is(Reason::error));
  // A socket that cannot be read leaves the other's reading.
  driver("hwmon1", "coretemp");
  sensor("hwmon1", "1", "Package id 1", "39000");
  CpuTemperature anew;
  EXPECT_EQ(anew.read(folder.root()), Reading(39.0));
}

TEST_F(CpuTemperatureTest, NoSensorAtAll) { EXPECT_TRUE(read().is(Reason::not_supported)); }

}  // namespace
}  // namespace gpulse::host

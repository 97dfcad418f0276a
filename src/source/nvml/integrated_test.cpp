// SPDX-License-Identifier: Apache-2.0
// GPUs of systems on a chip, in the simulator. Their values are invented.
#include <gtest/gtest.h>

#include "sim/testing/sim_machine.hpp"
#include "source/nvml/fake_root.hpp"
#include "source/nvml/identity.hpp"
#include "source/nvml/nvml_source.hpp"

namespace gpulse::test {
namespace {

constexpr double kMib = 1048576;
constexpr auto kTotal = device_metric("memory_total_bytes");
constexpr auto kUsed = device_metric("memory_used_bytes");
constexpr auto kFree = device_metric("memory_free_bytes");
constexpr auto kReserved = device_metric("memory_reserved_bytes");

TEST(IsIntegrated, ByWholeWordsOfTheName) {
  for (const auto *name : {"NVIDIA GB10", "NVIDIA-GB10", "GB10", "NVIDIA Thor", "Orin (nvgpu)", "Xavier (nvgpu)"}) {
    EXPECT_TRUE(nvml::is_integrated(name)) << name;
  }
  for (const auto *name : {"NVIDIA GB100", "NVIDIA GB102", "NVIDIA H200", "NVIDIA GH200 480GB", "NVIDIA Author", "",
                           "NVIDIA GeForce RTX 4060 Laptop GPU", "Tesla K80", " ", "Orinoco"}) {
    EXPECT_FALSE(nvml::is_integrated(name)) << name;
  }
}

class Integrated : public testing::Test {
 protected:
  Integrated() { root.write("/proc/meminfo", "MemTotal: 127600748 kB\nMemFree: 7 kB\nMemAvailable: 50000000 kB\n"); }
  void TearDown() override {
    sampler.reset();
    sim_clear();
  }
  SnapshotPtr sample(const std::string &toml) {
    sim_load(toml);
    sim_time(0);
    sampler = make_sampler({}, false, root.sysroot());
    return sampler->sample(Pass::everything);
  }

  FakeRoot root;
  std::unique_ptr<Sampler> sampler;
};

TEST_F(Integrated, TheMemoryOfTheHostIsItsOwn) {
  auto now = sample(
      "[[device]]\nprofile = \"gb10\"\n[[process]]\ndevice = 0\npid = 4711\ncommand = \"python3\"\nmemory_mib = "
      "63931\n");
  ASSERT_EQ(now->devices.size(), 1U);
  const auto *row = &now->devices[0].row;
  EXPECT_EQ((*row)[kTotal], Reading(127600748.0 * 1024));
  EXPECT_EQ((*row)[kUsed], Reading((127600748.0 - 50000000) * 1024));
  EXPECT_EQ((*row)[kFree], Reading(50000000.0 * 1024));
  EXPECT_TRUE((*row)[kReserved].is(Reason::not_supported));
  EXPECT_EQ((*row)[device_metric("gpu_utilization_percent")], Reading(96.0));
  EXPECT_EQ((*row)[device_metric("pcie_link_generation")], Reading(1.0)) << "as the driver says";
  EXPECT_EQ((*row)[device_metric("pcie_link_width")], Reading(1.0));
  EXPECT_EQ((*row)[device_metric("pcie_link_width_max")], Reading(1.0));
  ASSERT_EQ(now->processes.size(), 1U);
  EXPECT_EQ(now->processes[0].row[process_metric("gpu_memory_bytes")], Reading(63931 * kMib));

  root.write("/proc/meminfo", "MemTotal: 127600748 kB\nMemFree: 7 kB\nMemAvailable: 40000000 kB\n");
  now = sampler->sample(Pass::everything);
  EXPECT_EQ(now->devices[0].row[kFree], Reading(40000000.0 * 1024));
  root.write("/proc/meminfo", "MemTotal: lots\n");
  now = sampler->sample(Pass::everything);
  for (const auto id : {kTotal, kUsed, kFree}) EXPECT_TRUE(now->devices[0].row[id].is(Reason::error));
}

TEST_F(Integrated, ATotalOfNothingIsNoMemoryEither) {
  const auto now = sample("[[device]]\nprofile = \"gb10\"\nmemory_total_mib = 0\nmemory_used_mib = 0\n");
  EXPECT_EQ(now->devices.at(0).row[kTotal], Reading(127600748.0 * 1024));
}

TEST_F(Integrated, WhatTheDriverTellsIsBelieved) {
  const auto now = sample("[[device]]\nprofile = \"gb10\"\nmemory_total_mib = 4096\nmemory_used_mib = 1024\n");
  EXPECT_EQ(now->devices.at(0).row[kTotal], Reading(4096 * kMib));
  EXPECT_EQ(now->devices.at(0).row[kUsed], Reading(1024 * kMib));
}

TEST_F(Integrated, ABoardThatRefusesIsNotShownTheHostsMemory) {
  const std::string none = "memory_total_mib = \"not supported\"\nmemory_used_mib = \"not supported\"\n";
  const std::string window = "bar1_total_mib = \"not supported\"\nbar1_used_mib = \"not supported\"\n";
  auto now = sample("[[device]]\nprofile = \"h100\"\n" + none + window);
  for (const auto id : {kTotal, kUsed, kFree}) EXPECT_TRUE(now->devices.at(0).row[id].is(Reason::not_supported));
  // Nor does one that has a window into its own memory, whatever its name.
  now = sample("[[device]]\nprofile = \"h100\"\nname = \"NVIDIA Thor\"\n" + none);
  EXPECT_TRUE(now->devices.at(0).row[kTotal].is(Reason::not_supported));
  // Nor does any other error mean that.
  now = sample("[[device]]\nprofile = \"gb10\"\n[[fault]]\ncall = \"nvmlDeviceGetMemoryInfo_v2\"\ncode = 4\n");
  EXPECT_TRUE(now->devices.at(0).row[kTotal].is(Reason::no_permission));
}

TEST_F(Integrated, WhatNvgpuRunsIsLeftToItsFiles) {
  const std::string orin = "[[device]]\nprofile = \"gb10\"\nname = \"Orin (nvgpu)\"\n";
  EXPECT_EQ(sample(orin)->devices.size(), 1U) << "there are no files of it";
  root.write("/proc/device-tree/compatible", std::string_view("nvidia,p3701-0000\0nvidia,tegra234\0", 34));
  root.write("/sys/devices/platform/bus@0/17000000.gpu/load", "0\n");
  auto now = sample(orin);
  EXPECT_EQ(now->devices.size(), 0U);
  EXPECT_EQ(now->sources.at(0).problem, "");
  // A card in a slot of such a machine is read through the driver's library, as anywhere.
  now = sample(orin + "[[device]]\nprofile = \"h100\"\n");
  ASSERT_EQ(now->devices.size(), 1U);
  EXPECT_EQ(now->devices[0].identity->name, "NVIDIA H100 80GB HBM3");
}

}  // namespace
}  // namespace gpulse::test

// SPDX-License-Identifier: Apache-2.0
#include "source/host/cpu_power.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_folder.hpp"

namespace gpulse::host {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRange = 262'143'328'850;  // 2^32 - 1 steps of 61 µJ, as on most processors

TEST(PowerBetween, TwoValuesOfACounter) {
  EXPECT_EQ(power_between(1'000'000, 151'000'000, kRange, 1s), Reading(150.0));
  EXPECT_EQ(power_between(1'000'000, 151'000'000, kRange, 500ms), Reading(300.0));
  // Wraps: 50 J up to the end and 25 J from 0.
  EXPECT_EQ(power_between(kRange - 50'000'000, 25'000'000, kRange, 1s), Reading(75.0));
  EXPECT_TRUE(power_between(kRange / 2, 5, kRange, 1s).is(Reason::not_sampled)) << "set back, not run over";
  EXPECT_TRUE(power_between(100, 5, 0, 1s).is(Reason::not_sampled)) << "its end is not known";
  EXPECT_TRUE(power_between(kRange + 7, 5, kRange, 1s).is(Reason::not_sampled));
  EXPECT_TRUE(power_between(0, 6'000'000'000, kRange, 1s).is(Reason::not_sampled)) << "6 kW";
  EXPECT_TRUE(power_between(77, 77, kRange, 1s).is(Reason::out_of_range)) << "a processor that is on draws something";
}

class CpuPowerTest : public testing::Test {
 protected:
  void counter(const std::string &entry, std::string_view name, std::uint64_t microjoules) {
    const auto folder_of = "/sys/class/powercap/" + entry;
    folder.write(folder_of + "/name", std::string(name) + "\n");
    folder.write(folder_of + "/energy_uj", std::to_string(microjoules) + "\n");
    folder.write(folder_of + "/max_energy_range_uj", std::to_string(kRange) + "\n");
  }
  CpuPower::Readings read() { return power.read(folder.root(), now); }

  TemporaryFolder folder;
  CpuPower power;
  Monotonic now{100s};
};

TEST_F(CpuPowerTest, SumsSocketsAndTheirMemory) {
  counter("intel-rapl:0", "package-0", 10'000'000);
  counter("intel-rapl:0:0", "core", 0);
  counter("intel-rapl:0:1", "dram", 1'000'000);
  counter("intel-rapl:1", "package-1", kRange - 10'000'000);
  counter("intel-rapl:1:0", "dram", 2'000'000);
  counter("intel-rapl:2", "psys", 0);
  counter("intel-rapl-mmio:0", "package-0", 10'000'000);
  auto found = read();
  EXPECT_TRUE(found.processors.is(Reason::not_sampled));
  EXPECT_TRUE(found.memory.is(Reason::not_sampled));
  now += 2s;
  counter("intel-rapl:0", "package-0", 210'000'000);       // 200 J
  counter("intel-rapl:0:0", "core", 999'000'000);          // part of the package
  counter("intel-rapl:0:1", "dram", 21'000'000);           // 20 J
  counter("intel-rapl:1", "package-1", 90'000'000);        // 100 J, with a wrap
  counter("intel-rapl:1:0", "dram", 12'000'000);           // 10 J
  counter("intel-rapl:2", "psys", 999'000'000);            // the machine
  counter("intel-rapl-mmio:0", "package-0", 210'000'000);  // the first package again
  found = read();
  EXPECT_DOUBLE_EQ(found.processors.value_or(0), 150);
  EXPECT_DOUBLE_EQ(found.memory.value_or(0), 15);
  EXPECT_EQ(read().processors, found.processors) << "asked twice at one moment";
}

TEST_F(CpuPowerTest, ASocketThatDoesNotTellLeavesNoSum) {
  counter("intel-rapl:0", "package-0", 10'000'000);
  counter("intel-rapl:1", "package-1", 10'000'000);
  read();
  now += 1s;
  counter("intel-rapl:0", "package-0", 20'000'000);
  folder.write("/sys/class/powercap/intel-rapl:1/energy_uj", "");
  EXPECT_TRUE(read().processors.is(Reason::error));
  now += 1s;
  counter("intel-rapl:0", "package-0", 30'000'000);
  counter("intel-rapl:1", "package-1", 40'000'000);
  EXPECT_TRUE(read().processors.is(Reason::not_sampled)) << "the second has only just begun to tell";
  now += 1s;
  counter("intel-rapl:0", "package-0", 40'000'000);
  counter("intel-rapl:1", "package-1", 45'000'000);
  EXPECT_DOUBLE_EQ(read().processors.value_or(0), 15);
  EXPECT_TRUE(read().memory.is(Reason::not_supported));
}

TEST_F(CpuPowerTest, RootOnly) {
  counter("intel-rapl:0", "package-0", 10'000'000);
  const auto user = ::geteuid();
  std::filesystem::permissions(folder.path("/sys/class/powercap/intel-rapl:0/energy_uj"), std::filesystem::perms::none);
  if (user == 0) {
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    if (::seteuid(65534) != 0) GTEST_SKIP() << "no other user to be";
  }
  const auto found = read();
  ASSERT_EQ(::seteuid(user), 0);
  EXPECT_TRUE(found.processors.is(Reason::no_permission));
  EXPECT_TRUE(found.memory.is(Reason::not_supported));
}

TEST_F(CpuPowerTest, CountersThatComeAndGo) {
  EXPECT_TRUE(read().processors.is(Reason::not_supported));
  now += 1s;
  counter("intel-rapl:0", "package-0", 10'000'000);
  EXPECT_TRUE(read().processors.is(Reason::not_sampled));
  now += 1s;
  folder.remove("/sys/class/powercap");
  EXPECT_TRUE(read().processors.is(Reason::not_supported));
}

}  // namespace
}  // namespace gpulse::host

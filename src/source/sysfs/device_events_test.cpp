// SPDX-License-Identifier: Apache-2.0
#include "source/sysfs/device_events.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse::sysfs {
namespace {

using namespace std::chrono_literals;

constexpr auto kFile = "/sys/kernel/uevent_seqnum";

TEST(DeviceEvents, AreCountedByTheKernel) {
  const TemporaryFolder machine;
  machine.write(kFile, "4711\n");
  DeviceEvents events(machine.root());
  EXPECT_EQ(events.count(Monotonic(1s)), 4711U);
  machine.write(kFile, "4712\n");
  EXPECT_EQ(events.count(Monotonic(2s)), 4712U);
}

TEST(DeviceEvents, OneReadingIsForAllWhoAskAtThatTime) {
  const TemporaryFolder machine;
  machine.write(kFile, "1\n");
  DeviceEvents events(machine.root());
  EXPECT_EQ(events.count(Monotonic(1s)), 1U);
  machine.write(kFile, "2\n");
  EXPECT_EQ(events.count(Monotonic(1s + 1ms)), 1U);
  EXPECT_EQ(events.count(Monotonic(1s + 100ms)), 2U);
}

TEST(DeviceEvents, AreUnknownWithoutANumber) {
  const TemporaryFolder machine;
  DeviceEvents events(machine.root());
  EXPECT_EQ(events.count(Monotonic(1s)), std::nullopt);
  machine.write(kFile, "many\n");
  EXPECT_EQ(events.count(Monotonic(2s)), std::nullopt);
  machine.write(kFile, "");
  EXPECT_EQ(events.count(Monotonic(3s)), std::nullopt);
  machine.write(kFile, "3\n");
  EXPECT_EQ(events.count(Monotonic(4s)), 3U);
}

TEST(DeviceEvents, OfThisMachineNeverGrowFewer) {
  DeviceEvents events{Sysroot()};
  const auto first = events.count(Monotonic(1s));
  if (!first) GTEST_SKIP() << "this machine does not count them";
  EXPECT_GE(events.count(Monotonic(2s)), first);
}

}  // namespace
}  // namespace gpulse::sysfs

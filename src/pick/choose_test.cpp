// SPDX-License-Identifier: Apache-2.0
#include "pick/choose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pick/testing.hpp"

namespace gpulse::pick {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Device with(std::uint32_t index, double free_gib, Reading use, const std::string &vendor = "nvidia") {
  auto device = make_device(index, "GPU-" + std::to_string(index), vendor);
  device.row[device_metric("memory_free_bytes")] = free_gib * 0x1p30;
  device.row[device_metric("gpu_utilization_percent")] = use;
  return device;
}

Choice choose_from(const std::vector<Device> &devices, const Request &request,
                   const std::map<std::string, std::string> &taken = {}) {
  Snapshot snapshot;
  snapshot.devices = devices;
  return choose(snapshot, visible(snapshot.devices, environment_of({})), request, taken);
}

std::string reason_of(const Choice &choice, std::size_t device) {
  for (const auto &one : choice.refused) {
    if (one.device == device) return one.reason;
  }
  return "it is not refused";
}

TEST(Choose, MostFreeMemoryFirstThenLeastUse) {
  const auto choice = choose_from({with(0, 75, 5), with(1, 79, 9), with(2, 79, 1), with(3, 79, 1)}, {});
  EXPECT_THAT(choice.free, ElementsAre(2, 3, 1, 0));
  EXPECT_THAT(choice.refused, IsEmpty());
}

TEST(Choose, EachRefusalHasItsReason) {
  auto lost = with(4, 80, 0);
  lost.state = DeviceState::not_responding;
  auto prohibited = with(5, 80, 0);
  prohibited.row[device_metric("compute_mode")] = 2;
  const auto choice = choose_from({with(0, 12, 0), with(1, 80, 93), with(2, 80, 0), with(3, 80, 0), lost, prohibited},
                                  {.count = 1, .min_free_bytes = 20 * 0x1p30}, {{"GPU-2", "held by pid 7 of ann"}});
  EXPECT_THAT(choice.free, ElementsAre(3));
  EXPECT_EQ(reason_of(choice, 0), "12.0 GiB of 80.0 GiB free, 20.0 GiB asked for");
  EXPECT_EQ(reason_of(choice, 1), "93 % busy, at most 10 % asked for");
  EXPECT_EQ(reason_of(choice, 2), "held by pid 7 of ann");
  EXPECT_EQ(reason_of(choice, 4), "not responding");
  EXPECT_THAT(reason_of(choice, 5), testing::HasSubstr("prohibited"));
}

TEST(Choose, AnEmptyGpuIsMeantUnlessToldOtherwise) {
  const std::vector devices{with(0, 71, 0), with(1, 73, 0), with(2, 73, 11)};
  EXPECT_THAT(choose_from(devices, {}).free, ElementsAre(1));
  EXPECT_EQ(reason_of(choose_from(devices, {}), 0), "71.0 GiB of 80.0 GiB free, 90 % asked for");
  EXPECT_THAT(choose_from(devices, {.min_free_share = 0.5, .max_util_percent = 50}).free, ElementsAre(1, 2, 0));
}

TEST(Choose, WhatIsNotKnownIsNotZero) {
  auto no_memory = with(0, 80, 0);
  no_memory.row[device_metric("memory_free_bytes")] = Reason::no_permission;
  const std::vector devices{no_memory, with(1, 80, Reason::not_responding), with(2, 80, Reason::not_supported)};
  const auto choice = choose_from(devices, {});
  EXPECT_EQ(reason_of(choice, 0), "how much memory is free is not known: no permission");
  EXPECT_EQ(reason_of(choice, 1), "how busy it is is not known: not responding");
  // A device that has no such reading is judged by its memory, unless a limit was asked for.
  EXPECT_THAT(choice.free, ElementsAre(2));
  EXPECT_EQ(reason_of(choose_from(devices, {.max_util_percent = 10}), 2), "how busy it is is not known: not supported");
  // What does not matter need not be known.
  EXPECT_THAT(choose_from(devices, {.min_free_bytes = 0, .max_util_percent = 100}).free, ElementsAre(1, 2, 0));
}

TEST(Choose, AllAreOfOneVendor) {
  const std::vector devices{with(0, 80, 0, "amd"), with(1, 79, 0), with(2, 78, 0)};
  EXPECT_THAT(choose_from(devices, {.count = 1}).free, ElementsAre(0));
  EXPECT_THAT(choose_from(devices, {.count = 2}).free, ElementsAre(1, 2));
}

TEST(Choose, InstancesGoAlone) {
  auto whole = with(0, 80, 0);
  whole.row[device_metric("mig_mode")] = 1;
  const std::vector devices{whole, make_instance(whole, 0, "MIG-a", 1, 0), make_instance(whole, 1, "MIG-b", 2, 0)};
  EXPECT_THAT(choose_from(devices, {}).free, ElementsAre(1, 2));
  EXPECT_THAT(choose_from(devices, {.count = 2}).free, IsEmpty());
}

TEST(ParseSize, UnitsAsPeopleWriteThem) {
  EXPECT_EQ(parse_size("20GiB")->bytes, 20 * 0x1p30);
  EXPECT_EQ(parse_size("20g")->bytes, 20 * 0x1p30);
  EXPECT_EQ(parse_size("20 GB")->bytes, 20e9);
  EXPECT_EQ(parse_size("1.5MiB")->bytes, 1.5 * 0x1p20);
  EXPECT_EQ(parse_size("4096")->bytes, 4096);
  EXPECT_EQ(parse_size("0")->bytes, 0);
  EXPECT_EQ(parse_size("50%")->share, 0.5);
  for (const char *bad : {"", "GiB", "-1GiB", "1e99999", "20 apples", "101%", "1.2.3G", "20Gi B", "nan", "inf"}) {
    EXPECT_FALSE(parse_size(bad)) << bad;
  }
}

}  // namespace
}  // namespace gpulse::pick

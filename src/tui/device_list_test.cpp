// SPDX-License-Identifier: Apache-2.0
#include "tui/device_list.hpp"

#include <gmock/gmock.h>

#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using ::testing::ElementsAre;
using testing::kGiB;
using testing::make_process;

constexpr auto kUse = device_metric("gpu_utilization_percent");
constexpr auto kPower = device_metric("power_draw_watts");

// GPU 0 of ann, 1 idle, 2 of bob, 3 of ann and bob.
Snapshot four() {
  auto snapshot = testing::make_snapshot(4);
  snapshot.processes = {make_process(1, 0, "a", "ann"), make_process(2, 2, "b", "bob"), make_process(3, 3, "c", "bob"),
                        make_process(4, 3, "d", "ann")};
  const double use[] = {30, 0, 90, 60};
  for (std::size_t i = 0; i < 4; ++i) snapshot.devices[i].row[kUse] = use[i];
  return snapshot;
}

std::vector<std::string> words(const DeviceList &list) {
  std::vector<std::string> found;
  for (const auto &line : list.lines) {
    found.push_back(line.is_total() ? fmt::format("{} {}x", line.name, line.count) : text(line.device->id));
  }
  return found;
}

TEST(DeviceList, GoesByNumberUnlessAskedOtherwise) {
  const auto snapshot = four();
  const auto list = list_devices(snapshot, default_settings());
  EXPECT_THAT(words(list), ElementsAre("0", "1", "2", "3"));
  EXPECT_TRUE(list.all.empty()) << "a total of four says little";
}

TEST(DeviceList, SortsByAnyReadingAndPutsTheUnknownLast) {
  auto snapshot = four();
  auto settings = default_settings();
  settings.device_order = {DeviceOrder::Kind::metric, kUse, true};
  EXPECT_THAT(words(list_devices(snapshot, settings)), ElementsAre("2", "3", "0", "1"));
  snapshot.devices[2].row[kUse] = Reason::no_permission;
  EXPECT_THAT(words(list_devices(snapshot, settings)), ElementsAre("3", "0", "1", "2"));
  settings.device_order.descending = false;
  EXPECT_THAT(words(list_devices(snapshot, settings)), ElementsAre("1", "0", "3", "2"));
}

TEST(DeviceList, InstancesStayBelowTheirDevice) {
  auto snapshot = four();
  auto instance = snapshot.devices[1];
  instance.id.instance = 0;
  instance.row[kUse] = 95;
  snapshot.devices[1].row[kUse] = Reason::not_supported;
  snapshot.devices.push_back(instance);
  auto settings = default_settings();
  settings.device_order = {DeviceOrder::Kind::metric, kUse, true};
  EXPECT_THAT(words(list_devices(snapshot, settings)), ElementsAre("1", "1:0", "2", "3", "0"))
      << "a divided device is as busy as its busiest part";
}

TEST(DeviceList, HidesThoseWithoutWorkAndProcesses) {
  auto snapshot = four();
  auto settings = default_settings();
  settings.hide_idle = true;
  auto list = list_devices(snapshot, settings);
  EXPECT_THAT(words(list), ElementsAre("0", "2", "3"));
  EXPECT_EQ(list.hidden, 1U);
  snapshot.devices[1].state = DeviceState::lost;
  EXPECT_EQ(list_devices(snapshot, settings).hidden, 0U) << "what is lost is no idle one";
  snapshot.devices[0].row[kUse] = 0;
  EXPECT_EQ(list_devices(snapshot, settings).hidden, 0U) << "somebody holds it";
}

TEST(DeviceList, GroupsByWhoWorksThereAndAddsThemUp) {
  const auto snapshot = four();
  auto settings = default_settings();
  settings.device_groups = DeviceGroups::user;
  const auto list = list_devices(snapshot, settings);
  EXPECT_THAT(words(list), ElementsAre("ann 1x", "0", "ann, bob 1x", "3", "bob 1x", "2", "nobody 1x", "1"));
  EXPECT_EQ(list.devices, 4U);
  settings.device_groups = DeviceGroups::job;
  EXPECT_THAT(words(list_devices(snapshot, settings)), ElementsAre("no job 4x", "0", "1", "2", "3"));
}

TEST(DeviceList, ATotalIsMeanSumOrMostAsTheUnitSays) {
  auto snapshot = four();
  snapshot.devices[3].row[kPower] = Reason::not_supported;
  snapshot.devices[1].row[device_metric("temperature_gpu_celsius")] = 71;
  std::vector<const Device *> all;
  for (const auto &device : snapshot.devices) all.push_back(&device);
  const auto total = add_up(all);
  EXPECT_EQ(total.row[kUse].value(), 45) << "(30 + 0 + 90 + 60) / 4";
  EXPECT_NEAR(total.row[kPower].value(), 3 * 690.7, 1e-6);
  EXPECT_NEAR(total.row[device_metric("memory_total_bytes")].value(), 4 * 140.4 * kGiB, 1);
  EXPECT_EQ(total.row[device_metric("temperature_gpu_celsius")].value(), 71);
  EXPECT_FALSE(total.row[device_metric("performance_state")]) << "states do not add up";
}

TEST(DeviceList, ManyDevicesHaveATotalOfAllEvenOfThoseHidden) {
  auto snapshot = testing::make_snapshot(16);
  snapshot.processes.clear();
  for (auto &device : snapshot.devices) device.row[kUse] = device.id.index < 4 ? 100 : 0;
  auto settings = default_settings();
  settings.hide_idle = true;
  const auto list = list_devices(snapshot, settings);
  EXPECT_EQ(list.lines.size(), 4U);
  ASSERT_EQ(list.all.size(), 1U);
  EXPECT_EQ(list.all.front().count, 16U);
  EXPECT_EQ(list.all.front().device->row[kUse].value(), 25);
}

}  // namespace
}  // namespace gpulse::tui

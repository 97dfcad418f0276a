// SPDX-License-Identifier: Apache-2.0
// The page of a GPU, as its user meets it.
#include "tui/device_page.hpp"

#include <gmock/gmock.h>

#include "metric/state_names.hpp"
#include "tui/device_facts.hpp"
#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using testing::crowded;
using ::testing::HasSubstr;
using testing::kGiB;
using testing::later;
using testing::LiveView;
using testing::make_snapshot;
using ::testing::Not;

// Two GPUs; the first is split into an instance of its own.
Snapshot split_machine() {
  auto snapshot = make_snapshot(2);
  auto whole = std::make_shared<DeviceIdentity>(*snapshot.devices[0].identity);
  whole->texts[device_metric("vbios_version")] = std::string("96.00.A5.00.01");
  snapshot.devices[0].identity = whole;
  snapshot.devices[0].row[device_metric("persistence_mode")] = 1;
  auto instance = snapshot.devices[0];
  auto identity = std::make_shared<DeviceIdentity>(*whole);
  identity->uuid = "MIG-1111";
  identity->pci = "";
  identity->label = "1g.18gb";
  identity->texts = TextRow(Scope::device);
  instance.identity = identity;
  instance.id.instance = 1;
  instance.row.fill(Reason::not_supported);
  snapshot.devices.push_back(instance);
  return snapshot;
}

TEST(DevicePage, SaysWhoTheGpuIsAndWhatItReadsBesideItsLimits) {
  LiveView live({100, 60});
  live.sample(split_machine());
  live.press("b Enter");
  EXPECT_TRUE(live.shows("GPU 0  H200"));
  for (const auto *fact : {"GPU-00000000-0000", "0000:06:00.0", "580.159.04", "96.00.A5.00.01"}) {
    EXPECT_TRUE(live.shows(fact)) << fact << '\n' << live.text();
  }
  EXPECT_TRUE(live.shows("PM       on"));
  EXPECT_TRUE(live.shows("691W of 700W")) << live.text();
  EXPECT_TRUE(live.shows("112G of 140G"));
  EXPECT_TRUE(live.shows("Power drawn by the board")) << "labels are not all a person gets";
}

TEST(DevicePage, GoesToTheNextGpuAndThroughInstancesAndRoundAgain) {
  LiveView live({100, 60});
  live.sample(split_machine());
  live.press("b Enter ]");
  EXPECT_TRUE(live.shows("GPU 0:1  "));
  EXPECT_TRUE(live.shows("MIG-1111"));
  EXPECT_TRUE(live.shows("PART OF  GPU 0"));
  EXPECT_TRUE(live.shows("96.00.A5.00.01")) << "its firmware is that of its GPU";
  live.press("]");
  EXPECT_TRUE(live.shows("GPU 1  H200"));
  live.press("]");
  EXPECT_TRUE(live.shows("GPU 0  H200"));
  live.press("[");
  EXPECT_TRUE(live.shows("GPU 1  H200"));
  live.press("Esc");
  EXPECT_TRUE(live.shows("LIVE"));
}

TEST(DevicePage, OpensWithASecondClickOrWithNothingChosen) {
  LiveView live({120, 40});
  live.sample(make_snapshot(2));
  live.press("Enter");
  EXPECT_TRUE(live.shows("─ GPU 0  H200 ─")) << "the first, where nothing is chosen";
  live.press("Esc Esc");
  const int y = live.line_of("1 H200");
  ASSERT_GE(y, 0) << live.text();
  live.click(8, y);
  EXPECT_FALSE(live.shows("─ GPU 1  H200 ─"));
  live.click(8, y);
  EXPECT_TRUE(live.shows("─ GPU 1  H200 ─"));
}

TEST(DevicePage, EnterMeansWhatWasChosenLast) {
  LiveView live({120, 40});
  live.sample(make_snapshot(2));
  live.press("Down b Enter");
  EXPECT_TRUE(live.shows("─ GPU 0  H200 ─"));
  live.press("Esc Down Enter");
  EXPECT_TRUE(live.shows("─ Process 41001 on GPU 1 ─")) << live.text();
}

TEST(DevicePage, SaysWhyAReadingIsMissing) {
  auto snapshot = make_snapshot(1);
  snapshot.devices[0].row[device_metric("energy_joules")] = Reason::no_permission;
  LiveView live({100, 80});
  live.sample(snapshot);
  live.press("Enter");
  const int y = live.line_of("no permission");
  ASSERT_GE(y, 0);
  EXPECT_THAT(live.lines()[static_cast<std::size_t>(y) + 1], HasSubstr("ENERGY"));
}

TEST(DevicePage, AnEventOfTheGpuIsThereInWords) {
  auto snapshot = make_snapshot(2);
  LiveView live({100, 60});
  live.sample(snapshot);
  snapshot = later(snapshot, 1);
  snapshot.events.push_back({.time = snapshot.time,
                             .device = snapshot.devices[1].identity->uuid,
                             .kind = EventKind::xid,
                             .code = 79,
                             .text = "driver error XID 79"});
  live.sample(snapshot);
  live.press("b b Enter");
  EXPECT_TRUE(live.shows("XID 79: the device has fallen off the bus"));
  live.press("[");
  EXPECT_FALSE(live.shows("XID 79")) << "it is not GPU 0's";
}

TEST(UnheldMemory, IsWhatNoVisibleProcessHolds) {
  auto snapshot = make_snapshot(1);  // 112.4 GiB used, one process holds 110.2 GiB
  snapshot.devices[0].row[device_metric("process_count")] = 1;
  auto holders = memory_holders(snapshot, snapshot.devices[0]);
  ASSERT_TRUE(holders.by_nobody());
  EXPECT_NEAR(holders.by_nobody().value(), 2.2 * kGiB, 0.01 * kGiB);
  EXPECT_EQ(unheld_memory_text(holders), "") << "2 % is the driver's own";
  snapshot.processes[0].row[process_metric("gpu_memory_bytes")] = 40 * kGiB;
  holders = memory_holders(snapshot, snapshot.devices[0]);
  EXPECT_THAT(unheld_memory_text(holders), HasSubstr("72.4G of 112G in use is held by no process that can be seen"));
  EXPECT_THAT(unheld_memory_text(holders), HasSubstr("another container or namespace"));
  snapshot.processes[0].row[process_metric("gpu_memory_bytes")] = Reason::not_supported;
  holders = memory_holders(snapshot, snapshot.devices[0]);
  EXPECT_FALSE(holders.by_nobody()) << "what it holds is not known, so the rest is not either";
  snapshot.processes.clear();
  snapshot.devices[0].row[device_metric("process_count")] = 0;
  EXPECT_THAT(unheld_memory_text(memory_holders(snapshot, snapshot.devices[0])), HasSubstr("112G of 112G"));
}

TEST(EventsAtTheStart, AreSaidToBeOlder) {
  auto snapshot = make_snapshot(2);
  snapshot.devices[1].row[device_metric("throttle_reasons")] =
      static_cast<double>(state_names::throttle_bit("hw thermal"));
  LiveView live({120, 50});
  live.sample(snapshot);
  EXPECT_TRUE(live.shows("GPU 1 slowed down: hw thermal, since before gpulse started")) << live.text();
  live.sample(later(snapshot, 1));
  EXPECT_FALSE(live.shows("2 times")) << "and are said once";
}

TEST(EventPage, SaysWhatToDo) {
  auto snapshot = make_snapshot(1);
  LiveView live({100, 30});
  live.sample(snapshot);
  snapshot = later(snapshot, 1);
  snapshot.events.push_back({.time = snapshot.time,
                             .device = snapshot.devices[0].identity->uuid,
                             .kind = EventKind::xid,
                             .code = 79,
                             .text = "driver error XID 79"});
  live.sample(snapshot);
  live.press("E");
  EXPECT_TRUE(live.shows("─ Events ─"));
  EXPECT_FALSE(live.shows("What to do"));
  live.press("Enter");
  EXPECT_TRUE(live.shows("What to do: restart the machine")) << live.text();
  live.press("Esc Esc");
  EXPECT_TRUE(live.shows("LIVE"));
}

}  // namespace
}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
#include "tui/app.hpp"

#include <gmock/gmock.h>

#include "model/select.hpp"
#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using testing::crowded;
using ::testing::HasSubstr;
using testing::later;
using testing::LiveView;
using testing::make_snapshot;
using ::testing::Not;

TEST(App, SaysThatItWaitsUntilTheFirstSampleHasCome) {
  LiveView live;
  EXPECT_TRUE(live.shows("looking for GPUs"));
  live.now += std::chrono::seconds(7);
  EXPECT_TRUE(live.shows("waiting for the driver to answer … 7 s"));
  live.press("Down Enter K T / Esc v t");  // nothing to do it to
  live.sample(make_snapshot(1));
  EXPECT_TRUE(live.shows("H200"));
  live.press("q");
  EXPECT_TRUE(live.app.ended());
}

TEST(App, KeepsTheChosenProcessWhenTheOrderChanges) {
  LiveView live;
  auto snapshot = crowded(2, 6);
  live.sample(snapshot);
  live.press("Down Down");  // by memory: 5005, 5004
  EXPECT_THAT(live.chosen_line(), HasSubstr("5004"));
  snapshot.processes[4].row[process_metric("gpu_memory_bytes")] = 0.5 * testing::kGiB;
  live.sample(later(snapshot, 1));
  EXPECT_THAT(live.chosen_line(), HasSubstr("5004"));
  EXPECT_EQ(live.line_of("5004"), live.line_of("5000") + 1) << "and it is the last one now";
}

TEST(App, ChoosesTheLineInItsPlaceWhenAProcessHasEnded) {
  LiveView live;
  auto snapshot = crowded(2, 6);
  live.sample(snapshot);
  live.press("Down Down");
  snapshot.processes.erase(snapshot.processes.begin() + 4);
  live.sample(later(snapshot, 1));
  EXPECT_THAT(live.chosen_line(), HasSubstr("5003"));
}

TEST(App, FiltersWithEveryLetterAndGivesUpTheFilterOnEscape) {
  LiveView live;
  live.sample(crowded(2, 6));
  live.press("\\");
  live.type("user:bob");
  EXPECT_FALSE(live.shows("5004"));
  EXPECT_TRUE(live.shows("5003"));
  EXPECT_TRUE(live.shows("4 hidden"));
  live.press("Esc");
  EXPECT_TRUE(live.shows("5004"));
}

TEST(App, AnExpressionThatIsNotWholeYetLeavesTheListAsItWas) {
  LiveView live;
  live.sample(crowded(2, 6));
  live.press("\\");
  live.type("rank.[4-");
  EXPECT_TRUE(live.shows("is no regular expression"));
  EXPECT_TRUE(live.shows("5001"));
  live.type("5]");
  EXPECT_FALSE(live.shows("is no regular expression"));
  EXPECT_FALSE(live.shows("5001"));
  EXPECT_TRUE(live.shows("5005"));
}

TEST(App, SearchJumpsAndGoesOnWithN) {
  LiveView live;
  live.sample(crowded(2, 6));
  live.press("/");
  live.type("bob");
  live.press("Enter");
  EXPECT_THAT(live.chosen_line(), HasSubstr("5003"));
  live.press("n");
  EXPECT_THAT(live.chosen_line(), HasSubstr("5000"));
  live.press("n");
  EXPECT_THAT(live.chosen_line(), HasSubstr("5003")) << "round and round";
  live.press("N");
  EXPECT_THAT(live.chosen_line(), HasSubstr("5000"));
  EXPECT_TRUE(live.shows("5004")) << "others stay in the list";
}

TEST(App, SortsByTheColumnThatIsClickedAndInvertsOnTheSecondClick) {
  LiveView live;
  live.sample(crowded(1, 3));
  const int heading = live.line_of("GPU MEM▼");
  ASSERT_GE(heading, 0);
  const auto pid = static_cast<int>(live.lines()[static_cast<std::size_t>(heading)].find("PID"));
  live.click(pid - 2, heading);  // the box's border takes three bytes
  EXPECT_LT(live.line_of(" 5000 "), live.line_of(" 5002 "));
  live.click(pid - 2, heading);
  EXPECT_GT(live.line_of(" 5000 "), live.line_of(" 5002 "));
}

TEST(App, TotalsCountTheHostsPartOfAProcessOnSeveralDevicesOnce) {
  LiveView live({140, 40});
  auto snapshot = crowded(2, 0);
  for (const std::uint32_t device : {0U, 1U}) {
    auto process = testing::make_process(77, device, "python3 both.py", "eve");
    process.row[process_metric("gpu_memory_bytes")] = 4 * testing::kGiB;
    process.row[process_metric("gpu_utilization_percent")] = 30;
    process.row[process_metric("cpu_percent")] = 150;
    process.row[process_metric("host_memory_bytes")] = 2 * testing::kGiB;
    snapshot.processes.push_back(process);
  }
  live.sample(snapshot);
  live.press("v");
  const auto row = live.lines()[static_cast<std::size_t>(live.line_of("2 processes"))];
  EXPECT_THAT(row, HasSubstr("eve"));
  EXPECT_THAT(row, HasSubstr("8.0G"));
  EXPECT_THAT(row, HasSubstr("60%"));
  EXPECT_THAT(row, HasSubstr("150%"));
  EXPECT_THAT(row, HasSubstr("2.0G"));
  EXPECT_THAT(row, HasSubstr("0,1"));
  live.press("Down Enter");
  EXPECT_TRUE(live.shows("filter user:eve"));
}

TEST(App, LooksBackWhilePausedAndReturnsToNow) {
  LiveView live;
  for (int i = 0; i < 90; ++i) {
    auto snapshot = later(make_snapshot(1), i);
    snapshot.devices[0].row[device_metric("temperature_gpu_celsius")] = i;
    live.sample(snapshot);
  }
  EXPECT_TRUE(live.shows("LIVE"));
  EXPECT_TRUE(live.shows(" 89°C"));
  live.press("(");
  EXPECT_TRUE(live.shows("PAUSED 0:01 ago"));
  EXPECT_TRUE(live.shows(" 88°C"));
  live.press("{");
  EXPECT_TRUE(live.shows("PAUSED 1:01 ago"));
  EXPECT_TRUE(live.shows(" 28°C"));
  live.press("g");
  live.type("start");
  live.press("Enter");
  EXPECT_TRUE(live.shows("PAUSED 1:29 ago"));
  live.press("g");
  live.type("1m5s");
  live.press("Enter");
  EXPECT_TRUE(live.shows(" 65°C"));
  live.press("g");
  live.type("half past");
  live.press("Enter");
  EXPECT_TRUE(live.shows("is no time"));
  live.press("L");
  EXPECT_TRUE(live.shows("LIVE"));
  EXPECT_TRUE(live.shows(" 89°C"));
}

TEST(App, ASampleThatComesWhilePausedDoesNotMoveTheScreen) {
  LiveView live;
  live.sample(make_snapshot(1));
  live.press("p");
  auto next = later(make_snapshot(1), 1);
  next.devices[0].row[device_metric("temperature_gpu_celsius")] = 33;
  live.sample(next);
  EXPECT_TRUE(live.shows("64°C"));
  EXPECT_TRUE(live.shows("PAUSED 0:01 ago"));
  live.press("p");
  EXPECT_TRUE(live.shows("33°C"));
}

TEST(App, PlaysARecordingAtItsPaceAndStopsAtTheEnd) {
  LiveView live({120, 40}, {.replay = true, .speed = 2});
  for (int i = 0; i < 3; ++i) live.timeline.add(later(make_snapshot(1), 4 * i));
  live.app.tick(live.now);
  EXPECT_TRUE(live.shows("▶ 0:00 of 0:08 x2"));
  ASSERT_TRUE(live.app.due());
  EXPECT_EQ(*live.app.due(), live.now + std::chrono::seconds(2));
  live.app.tick(live.now + std::chrono::milliseconds(1999));
  EXPECT_TRUE(live.shows("▶ 0:00 of"));
  live.app.tick(live.now + std::chrono::seconds(2));
  EXPECT_TRUE(live.shows("▶ 0:04 of"));
  live.app.tick(live.now + std::chrono::seconds(9));
  EXPECT_TRUE(live.shows("‖ 0:08 of 0:08"));
  live.press("p");
  EXPECT_TRUE(live.shows("▶ 0:00 of")) << "from the start again";
}

TEST(App, RefusesToSignalInARecordingAndWhenReadOnly) {
  LiveView live({120, 40}, {.no_actions = "started with --readonly"});
  live.sample(crowded(1, 3));
  live.press("Down T");
  EXPECT_TRUE(live.shows("no signal was sent: started with --readonly"));
  live.press("[");
  EXPECT_TRUE(live.shows("nothing was changed: started with --readonly"));
}

TEST(App, SaysWhyAProcessCannotBeSignalled) {
  LiveView live;
  auto snapshot = crowded(1, 1);
  snapshot.processes[0].foreign = true;
  live.sample(snapshot);
  live.press("Down X");
  EXPECT_TRUE(live.shows("its number is of another namespace"));
  snapshot.processes[0].foreign = false;
  snapshot.processes[0].gone = true;
  live.sample(later(snapshot, 1));
  live.press("X");
  EXPECT_TRUE(live.shows("it is gone"));
}

TEST(App, ShowsSixPlotsAtMost) {
  LiveView live;
  live.sample(make_snapshot(1));
  live.press("d Down Down Down Down Space Down Space Down Space");
  EXPECT_TRUE(live.shows("at most 6 at once"));
  live.press("Esc");
  EXPECT_EQ(live.app.settings().plots.size(), 6U);
}

TEST(App, AProcessThatCameOrWentIsAnEvent) {
  LiveView live;
  auto snapshot = crowded(1, 1);
  live.sample(snapshot);
  EXPECT_TRUE(live.shows("nothing happened yet"));
  snapshot.processes.push_back(testing::make_process(6001, 0, "python3 new.py", "zoe"));
  live.sample(later(snapshot, 1));
  EXPECT_FALSE(live.shows("nothing happened yet"));
  EXPECT_GE(live.line_of("6001"), 0);
  EXPECT_TRUE(live.shows("zoe"));
}

TEST(App, HidesAndShowsPanels) {
  LiveView live;
  live.sample(make_snapshot(1));
  for (const auto &[key, title] :
       {std::pair("1", "─ GPUs"), {"2", "─ Plots"}, {"3", "─ Processes"}, {"4", "─ Host"}, {"5", "─ Events"}}) {
    EXPECT_TRUE(live.shows(title)) << title;
    live.press(key);
    EXPECT_FALSE(live.shows(title)) << title;
    live.press(key);
    EXPECT_TRUE(live.shows(title)) << title;
  }
}

TEST(App, SetupReordersPanels) {
  LiveView live;
  live.sample(make_snapshot(1));
  EXPECT_LT(live.line_of("─ GPUs"), live.line_of("─ Plots"));
  live.press("S");
  live.press("+");
  live.press("Esc");
  EXPECT_GT(live.line_of("─ GPUs"), live.line_of("─ Plots"));
}

TEST(App, ControlCLeavesWhenNothingIsChosenAndAsksWhenSomethingIs) {
  LiveView live;
  live.sample(crowded(1, 2));
  live.press("Down");
  live.press("Ctrl-C");
  EXPECT_FALSE(live.app.ended());
  live.press("Esc");
  live.press("Esc");
  live.press("Ctrl-C");
  EXPECT_TRUE(live.app.ended());
}

TEST(App, FindsADeviceThatClaimsToBeBusy) {
  LiveView live({160, 40});
  auto snapshot = make_snapshot(1);
  snapshot.devices[0].row[device_metric("gpu_utilization_percent")] = 94;
  snapshot.devices[0].row[device_metric("sm_active_percent")] = 1;
  live.sample(snapshot);
  const auto &screen = live.app.draw(live.now);
  const int y = live.line_of("94%");
  ASSERT_GE(y, 0);
  const auto &warn = theme(ThemeName::dark).warn;
  int warned = 0;
  for (int x = 0; x < screen.size().columns; ++x) warned += screen.at(x, y).ink == warn ? 1 : 0;
  EXPECT_GE(warned, 12) << "the meter and the true activity are in the colour of a warning";
}

// A job that holds memory and does nothing, for half a minute.
void hang(LiveView &live) {
  auto snapshot = crowded(2, 1);
  for (auto &device : snapshot.devices) {
    for (const auto metric : {device_metric("gpu_utilization_percent"), device_metric("sm_active_percent"),
                              device_metric("graphics_active_percent")}) {
      device.row[metric] = 0;
    }
    device.row[device_metric("throttle_reasons")] = 0;
  }
  snapshot.processes[0].row[process_metric("cpu_percent")] = 0;
  snapshot.processes[0].row[process_metric("gpu_memory_bytes")] = 30 * testing::kGiB;
  for (int i = 0; i < 30; ++i) live.sample(later(snapshot, i));
}

TEST(App, SaysWhatIsWrongAndShowsAllAboutItWithD) {
  LiveView live;
  live.sample(crowded(2, 1));
  live.press("D");
  EXPECT_TRUE(live.shows("Too little was seen to judge"));
  live.press("Esc");
  hang(live);
  EXPECT_EQ(live.line_of("! GPU 0  hung  The job holds 30.0 GiB"), 1);
  EXPECT_FALSE(live.shows("See where it waits"));
  live.press("D");
  EXPECT_TRUE(live.shows("What is wrong"));
  EXPECT_TRUE(live.shows("See where it waits"));
  EXPECT_TRUE(live.shows("gpulse explain hung"));
  live.press("Esc");
  ASSERT_EQ(live.line_of("hung"), 1);
  live.click(10, 1);
  EXPECT_TRUE(live.shows("See where it waits"));
}

TEST(App, JudgesWhatItShowsWhereverItIsInTime) {
  LiveView live;
  hang(live);
  EXPECT_TRUE(live.shows("hung"));
  for (int i = 0; i < 25; ++i) live.press("(");
  EXPECT_FALSE(live.shows("hung")) << "only five seconds were seen by then";
  for (int i = 0; i < 10; ++i) live.press(")");
  EXPECT_FALSE(live.shows("hung")) << "one look is not enough";
  live.press("L");
  EXPECT_TRUE(live.shows("hung"));
}

TEST(App, SaysNothingOfGpusThatAreNotShown) {
  LiveView live({120, 40}, {.part = [](const SnapshotPtr &all) { return select_devices(all, {"1"}); }});
  hang(live);
  EXPECT_FALSE(live.shows("hung"));
}

}  // namespace
}  // namespace gpulse::tui

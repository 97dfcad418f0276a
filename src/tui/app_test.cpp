// SPDX-License-Identifier: Apache-2.0
#include "tui/app.hpp"

#include <gmock/gmock.h>

#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using testing::crowded;
using testing::Desk;
using ::testing::HasSubstr;
using testing::later;
using testing::make_snapshot;
using ::testing::Not;

TEST(App, SaysThatItWaitsUntilTheFirstSampleHasCome) {
  Desk desk;
  EXPECT_TRUE(desk.shows("looking for GPUs"));
  desk.now += std::chrono::seconds(7);
  EXPECT_TRUE(desk.shows("waiting for the driver to answer … 7 s"));
  desk.press("Down Enter K T / Esc v t");  // nothing to do it to
  desk.sample(make_snapshot(1));
  EXPECT_TRUE(desk.shows("H200"));
  desk.press("q");
  EXPECT_TRUE(desk.app.ended());
}

TEST(App, KeepsTheChosenProcessWhenTheOrderChanges) {
  Desk desk;
  auto snapshot = crowded(2, 6);
  desk.sample(snapshot);
  desk.press("Down Down");  // by memory: 5005, 5004
  EXPECT_THAT(desk.chosen_line(), HasSubstr("5004"));
  snapshot.processes[4].row[process_metric("gpu_memory_bytes")] = 0.5 * testing::kGiB;
  desk.sample(later(snapshot, 1));
  EXPECT_THAT(desk.chosen_line(), HasSubstr("5004"));
  EXPECT_EQ(desk.line_of("5004"), desk.line_of("5000") + 1) << "and it is the last one now";
}

TEST(App, ChoosesTheLineInItsPlaceWhenAProcessHasEnded) {
  Desk desk;
  auto snapshot = crowded(2, 6);
  desk.sample(snapshot);
  desk.press("Down Down");
  snapshot.processes.erase(snapshot.processes.begin() + 4);
  desk.sample(later(snapshot, 1));
  EXPECT_THAT(desk.chosen_line(), HasSubstr("5003"));
}

TEST(App, FiltersWithEveryLetterAndGivesUpTheFilterOnEscape) {
  Desk desk;
  desk.sample(crowded(2, 6));
  desk.press("\\");
  desk.type("user:bob");
  EXPECT_FALSE(desk.shows("5004"));
  EXPECT_TRUE(desk.shows("5003"));
  EXPECT_TRUE(desk.shows("4 hidden"));
  desk.press("Esc");
  EXPECT_TRUE(desk.shows("5004"));
}

TEST(App, AnExpressionThatIsNotWholeYetLeavesTheListAsItWas) {
  Desk desk;
  desk.sample(crowded(2, 6));
  desk.press("\\");
  desk.type("rank.[4-");
  EXPECT_TRUE(desk.shows("is no regular expression"));
  EXPECT_TRUE(desk.shows("5001"));
  desk.type("5]");
  EXPECT_FALSE(desk.shows("is no regular expression"));
  EXPECT_FALSE(desk.shows("5001"));
  EXPECT_TRUE(desk.shows("5005"));
}

TEST(App, SearchJumpsAndGoesOnWithN) {
  Desk desk;
  desk.sample(crowded(2, 6));
  desk.press("/");
  desk.type("bob");
  desk.press("Enter");
  EXPECT_THAT(desk.chosen_line(), HasSubstr("5003"));
  desk.press("n");
  EXPECT_THAT(desk.chosen_line(), HasSubstr("5000"));
  desk.press("n");
  EXPECT_THAT(desk.chosen_line(), HasSubstr("5003")) << "round and round";
  desk.press("N");
  EXPECT_THAT(desk.chosen_line(), HasSubstr("5000"));
  EXPECT_TRUE(desk.shows("5004")) << "others stay in the list";
}

TEST(App, SortsByTheColumnThatIsClickedAndInvertsOnTheSecondClick) {
  Desk desk;
  desk.sample(crowded(1, 3));
  const int heading = desk.line_of("GPU MEM▼");
  ASSERT_GE(heading, 0);
  const auto pid = static_cast<int>(desk.lines()[static_cast<std::size_t>(heading)].find("PID"));
  desk.click(pid - 2, heading);  // the box's border takes three bytes
  EXPECT_LT(desk.line_of(" 5000 "), desk.line_of(" 5002 "));
  desk.click(pid - 2, heading);
  EXPECT_GT(desk.line_of(" 5000 "), desk.line_of(" 5002 "));
}

TEST(App, TotalsCountTheHostsPartOfAProcessOnSeveralDevicesOnce) {
  Desk desk({140, 40});
  auto snapshot = crowded(2, 0);
  for (const std::uint32_t device : {0U, 1U}) {
    auto process = testing::make_process(77, device, "python3 both.py", "eve");
    process.row[process_metric("gpu_memory_bytes")] = 4 * testing::kGiB;
    process.row[process_metric("gpu_utilization_percent")] = 30;
    process.row[process_metric("cpu_percent")] = 150;
    process.row[process_metric("host_memory_bytes")] = 2 * testing::kGiB;
    snapshot.processes.push_back(process);
  }
  desk.sample(snapshot);
  desk.press("v");
  const auto row = desk.lines()[static_cast<std::size_t>(desk.line_of("2 processes"))];
  EXPECT_THAT(row, HasSubstr("eve"));
  EXPECT_THAT(row, HasSubstr("8.0G"));
  EXPECT_THAT(row, HasSubstr("60%"));
  EXPECT_THAT(row, HasSubstr("150%"));
  EXPECT_THAT(row, HasSubstr("2.0G"));
  EXPECT_THAT(row, HasSubstr("0,1"));
  desk.press("Down Enter");
  EXPECT_TRUE(desk.shows("filter user:eve"));
}

TEST(App, LooksBackWhilePausedAndReturnsToNow) {
  Desk desk;
  for (int i = 0; i < 90; ++i) {
    auto snapshot = later(make_snapshot(1), i);
    snapshot.devices[0].row[device_metric("temperature_gpu_celsius")] = i;
    desk.sample(snapshot);
  }
  EXPECT_TRUE(desk.shows("LIVE"));
  EXPECT_TRUE(desk.shows(" 89°C"));
  desk.press("(");
  EXPECT_TRUE(desk.shows("PAUSED 0:01 ago"));
  EXPECT_TRUE(desk.shows(" 88°C"));
  desk.press("{");
  EXPECT_TRUE(desk.shows("PAUSED 1:01 ago"));
  EXPECT_TRUE(desk.shows(" 28°C"));
  desk.press("g");
  desk.type("start");
  desk.press("Enter");
  EXPECT_TRUE(desk.shows("PAUSED 1:29 ago"));
  desk.press("g");
  desk.type("1m5s");
  desk.press("Enter");
  EXPECT_TRUE(desk.shows(" 65°C"));
  desk.press("g");
  desk.type("half past");
  desk.press("Enter");
  EXPECT_TRUE(desk.shows("is no time"));
  desk.press("L");
  EXPECT_TRUE(desk.shows("LIVE"));
  EXPECT_TRUE(desk.shows(" 89°C"));
}

TEST(App, ASampleThatComesWhilePausedDoesNotMoveTheScreen) {
  Desk desk;
  desk.sample(make_snapshot(1));
  desk.press("p");
  auto next = later(make_snapshot(1), 1);
  next.devices[0].row[device_metric("temperature_gpu_celsius")] = 33;
  desk.sample(next);
  EXPECT_TRUE(desk.shows("64°C"));
  EXPECT_TRUE(desk.shows("PAUSED 0:01 ago"));
  desk.press("p");
  EXPECT_TRUE(desk.shows("33°C"));
}

TEST(App, PlaysARecordingAtItsPaceAndStopsAtTheEnd) {
  Desk desk({120, 40}, {.replay = true, .speed = 2});
  for (int i = 0; i < 3; ++i) desk.timeline.add(later(make_snapshot(1), 4 * i));
  desk.app.tick(desk.now);
  EXPECT_TRUE(desk.shows("▶ 0:00 of 0:08 x2"));
  ASSERT_TRUE(desk.app.due());
  EXPECT_EQ(*desk.app.due(), desk.now + std::chrono::seconds(2));
  desk.app.tick(desk.now + std::chrono::milliseconds(1999));
  EXPECT_TRUE(desk.shows("▶ 0:00 of"));
  desk.app.tick(desk.now + std::chrono::seconds(2));
  EXPECT_TRUE(desk.shows("▶ 0:04 of"));
  desk.app.tick(desk.now + std::chrono::seconds(9));
  EXPECT_TRUE(desk.shows("‖ 0:08 of 0:08"));
  desk.press("p");
  EXPECT_TRUE(desk.shows("▶ 0:00 of")) << "from the start again";
}

TEST(App, RefusesToSignalInARecordingAndWhenReadOnly) {
  Desk desk({120, 40}, {.no_actions = "started with --readonly"});
  desk.sample(crowded(1, 3));
  desk.press("Down T");
  EXPECT_TRUE(desk.shows("no signal was sent: started with --readonly"));
  desk.press("[");
  EXPECT_TRUE(desk.shows("nothing was changed: started with --readonly"));
}

TEST(App, SaysWhyAProcessCannotBeSignalled) {
  Desk desk;
  auto snapshot = crowded(1, 1);
  snapshot.processes[0].foreign = true;
  desk.sample(snapshot);
  desk.press("Down X");
  EXPECT_TRUE(desk.shows("its number is of another namespace"));
  snapshot.processes[0].foreign = false;
  snapshot.processes[0].gone = true;
  desk.sample(later(snapshot, 1));
  desk.press("X");
  EXPECT_TRUE(desk.shows("it is gone"));
}

TEST(App, ShowsSixPlotsAtMost) {
  Desk desk;
  desk.sample(make_snapshot(1));
  desk.press("d Down Down Down Down Space Down Space Down Space");
  EXPECT_TRUE(desk.shows("at most 6 at once"));
  desk.press("Esc");
  EXPECT_EQ(desk.app.settings().plots.size(), 6U);
}

TEST(App, AProcessThatCameOrWentIsAnEvent) {
  Desk desk;
  auto snapshot = crowded(1, 1);
  desk.sample(snapshot);
  EXPECT_TRUE(desk.shows("nothing happened yet"));
  snapshot.processes.push_back(testing::make_process(6001, 0, "python3 new.py", "zoe"));
  desk.sample(later(snapshot, 1));
  EXPECT_FALSE(desk.shows("nothing happened yet"));
  EXPECT_GE(desk.line_of("6001"), 0);
  EXPECT_TRUE(desk.shows("zoe"));
}

TEST(App, HidesAndShowsPanels) {
  Desk desk;
  desk.sample(make_snapshot(1));
  for (const auto &[key, title] :
       {std::pair("1", "─ GPUs"), {"2", "─ Plots"}, {"3", "─ Processes"}, {"4", "─ Host"}, {"5", "─ Events"}}) {
    EXPECT_TRUE(desk.shows(title)) << title;
    desk.press(key);
    EXPECT_FALSE(desk.shows(title)) << title;
    desk.press(key);
    EXPECT_TRUE(desk.shows(title)) << title;
  }
}

TEST(App, SetupReordersPanels) {
  Desk desk;
  desk.sample(make_snapshot(1));
  EXPECT_LT(desk.line_of("─ GPUs"), desk.line_of("─ Plots"));
  desk.press("S");
  desk.press("+");
  desk.press("Esc");
  EXPECT_GT(desk.line_of("─ GPUs"), desk.line_of("─ Plots"));
}

TEST(App, ControlCLeavesWhenNothingIsChosenAndAsksWhenSomethingIs) {
  Desk desk;
  desk.sample(crowded(1, 2));
  desk.press("Down");
  desk.press("Ctrl-C");
  EXPECT_FALSE(desk.app.ended());
  desk.press("Esc");
  desk.press("Esc");
  desk.press("Ctrl-C");
  EXPECT_TRUE(desk.app.ended());
}

TEST(App, FindsADeviceThatClaimsToBeBusy) {
  Desk desk({160, 40});
  auto snapshot = make_snapshot(1);
  snapshot.devices[0].row[device_metric("gpu_utilization_percent")] = 94;
  snapshot.devices[0].row[device_metric("sm_active_percent")] = 1;
  desk.sample(snapshot);
  const auto &screen = desk.app.draw(desk.now);
  const int y = desk.line_of("94%");
  ASSERT_GE(y, 0);
  const auto &warn = theme(ThemeName::dark).warn;
  int warned = 0;
  for (int x = 0; x < screen.size().columns; ++x) warned += screen.at(x, y).ink == warn ? 1 : 0;
  EXPECT_GE(warned, 12) << "the meter and the true activity are in the colour of a warning";
}

}  // namespace
}  // namespace gpulse::tui

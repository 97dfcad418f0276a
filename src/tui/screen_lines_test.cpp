// SPDX-License-Identifier: Apache-2.0
// What the first and the last lines say while things go on: what is filtered, which keys help now, messages, the time
// between samples; and the setup that lies over all of it.
#include <gmock/gmock.h>

#include "metric/state_names.hpp"
#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using testing::crowded;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::later;
using testing::LiveView;
using testing::make_snapshot;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Filter, IsSeenAtEverySizeWithWhatItHides) {
  for (const auto size : {term::Size{80, 24}, term::Size{120, 30}, term::Size{200, 50}}) {
    LiveView live(size);
    live.sample(crowded(2, 6));  // 5000 and 5003 are bob's
    EXPECT_THAT(live.lines().front(), Not(HasSubstr("hidden")));
    live.press("\\");
    live.type("user:bob");
    live.press("Enter");
    EXPECT_THAT(live.lines().front(), HasSubstr("filter user:bob: 4 hidden")) << size.columns;
    EXPECT_THAT(live.lines().front(), EndsWith("LIVE 1s"));
    live.press("Esc x");
    EXPECT_THAT(live.lines().front(), HasSubstr("only compute: 0 hidden"));
  }
}

TEST(Filter, ASlipIsSaidAndHidesNothing) {
  LiveView live({120, 30});
  live.sample(crowded(2, 6));
  live.press("\\");
  live.type("usr:root");
  EXPECT_THAT(live.lines().back(), HasSubstr("no such key \"usr\": user, gpu, pid"));
  live.press("Enter");
  EXPECT_TRUE(live.shows("5001"));
  EXPECT_THAT(live.lines().front(), Not(HasSubstr("hidden")));
}

TEST(KeyBar, ShowsTheKeysOfTimeWhileTheScreenStandsStill) {
  LiveView live({80, 24});
  live.sample(make_snapshot(1));
  EXPECT_THAT(live.lines().back(), StartsWith("? Help  q Quit  / Search"));
  live.press("p");
  EXPECT_THAT(live.lines().back(), StartsWith("? Help  q Quit  p Pause/Play  ( Back  ) Forward  { -1 min  } +1 min"));
  const auto at = live.lines().back().find("p Pause/Play");
  live.click(static_cast<int>(at), 23);
  EXPECT_THAT(live.lines().back(), StartsWith("? Help  q Quit  / Search")) << "a click on a key presses that key";
}

TEST(KeyBar, SaysWhereSomethingIsToGoBackTo) {
  LiveView live({80, 24}, {.goes_back = true});
  live.sample(make_snapshot(1));
  EXPECT_THAT(live.lines().back(), StartsWith("? Help  q Back  / Search"));
  live.press("Esc");
  EXPECT_TRUE(live.app.ended());
}

TEST(Message, LeavesTheKeysToBeSeen) {
  LiveView live({80, 24});
  live.sample(make_snapshot(1));
  live.press("w");
  const auto lines = live.lines();
  EXPECT_THAT(lines[22], StartsWith("theme light"));
  EXPECT_THAT(lines[23], StartsWith("? Help"));
}

TEST(Interval, IsChangedByKeyAndInTheSetup) {
  LiveView live({120, 40});
  live.sample(make_snapshot(1));
  live.press("+");
  EXPECT_EQ(live.app.interval(), Seconds(2));
  EXPECT_THAT(live.lines().front(), EndsWith("LIVE 2s"));
  live.press("- - -");
  EXPECT_EQ(live.app.interval(), Seconds(0.2));
  live.press("- - -");
  EXPECT_EQ(live.app.interval(), Seconds(0.1)) << "no shorter than that";
  live.press("S Tab Tab Tab End Enter");
  EXPECT_EQ(live.app.interval(), Seconds(0.2));
  EXPECT_TRUE(live.shows("a sample every")) << live.text();
}

TEST(Interval, OfARecordingIsItsOwn) {
  LiveView live({120, 40}, {.replay = true});
  live.timeline.add(make_snapshot(1));
  live.app.tick(live.now);
  live.press("+");
  EXPECT_TRUE(live.shows("a recording has its own pace"));
}

TEST(Setup, LiesOverThePageThatItChanges) {
  LiveView live({120, 40});
  live.sample(make_snapshot(1));
  live.press("S");
  EXPECT_TRUE(live.shows("─ Setup ─"));
  EXPECT_TRUE(live.shows("[x] gpus"));
  EXPECT_TRUE(live.shows("node7")) << "the page is still seen";
  live.press("Space");
  EXPECT_TRUE(live.shows("[ ] gpus"));
  EXPECT_FALSE(live.shows("─ GPUs ─")) << "and changes at once";
}

TEST(HostPlots, AreDrawnBesideThoseOfTheGpus) {
  LiveView live({120, 50});
  for (int i = 0; i < 30; ++i) live.sample(later(make_snapshot(1), i));
  EXPECT_FALSE(live.shows("host CPU"));
  live.press("d");
  live.type("cpu_p");
  live.press("Space Esc");
  EXPECT_EQ(live.app.settings().host_plots, std::vector{host_metric("cpu_percent")});
  EXPECT_TRUE(live.shows("host CPU")) << live.text();
  EXPECT_EQ(live.app.settings().plots.size(), 4U) << "the others are still there";
}

// Which cell has the first letter of these words.
term::CellInk ink_of(LiveView &live, std::string_view words) {
  const auto &screen = live.app.draw(live.now);
  const auto lines = screen.lines();
  for (int y = 0; y < screen.size().rows; ++y) {
    const auto at = lines[static_cast<std::size_t>(y)].find(words);
    if (at == std::string::npos) continue;
    const int x = term::width(std::string_view(lines[static_cast<std::size_t>(y)]).substr(0, at));
    return screen.at(x, y).ink;
  }
  ADD_FAILURE() << words << " is not on the screen:\n" << live.text();
  return {};
}

TEST(LookAt, PowerLimitOfABusyGpuIsGreyAndHeatIsRed) {
  auto snapshot = make_snapshot(2);
  for (auto &device : snapshot.devices) device.row[device_metric("sm_active_percent")] = 95;
  snapshot.devices[0].row[device_metric("throttle_reasons")] =
      static_cast<double>(state_names::throttle_bit("power cap"));
  snapshot.devices[1].row[device_metric("throttle_reasons")] =
      static_cast<double>(state_names::throttle_bit("hw thermal"));
  LiveView live({160, 50});
  live.sample(snapshot);
  live.press("5");  // the events say it too
  EXPECT_EQ(ink_of(live, "power cap"), term::CellInk(theme(ThemeName::dark).dim));
  EXPECT_EQ(ink_of(live, "hw thermal"), term::CellInk(theme(ThemeName::dark).bad));
}

}  // namespace
}  // namespace gpulse::tui

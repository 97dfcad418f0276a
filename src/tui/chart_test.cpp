// SPDX-License-Identifier: Apache-2.0
// What a reader takes from the plots: when, how much, which GPU.
#include "tui/chart.hpp"

#include <gmock/gmock.h>

#include "tui/testing.hpp"

namespace gpulse::tui {
namespace {

using ::testing::HasSubstr;
using testing::later;
using testing::LiveView;
using testing::make_snapshot;

constexpr auto kUse = device_metric("gpu_utilization_percent");

AppOptions without_findings() { return {.watch = {.step = std::chrono::hours(24)}}; }

void in_utc() {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
}

// Each GPU at ten times its number.
Snapshot at(int second, std::uint32_t devices) {
  auto snapshot = later(make_snapshot(devices), second);
  for (auto &device : snapshot.devices) device.row[kUse] = 10 * device.id.index;
  return snapshot;
}

void watch(LiveView &live, std::uint32_t devices, int seconds = 60) {
  for (int i = 0; i < seconds; ++i) live.sample(at(i, devices));
}

TEST(Charts, SayWhenInTimeBeforeNow) {
  LiveView live({120, 40}, without_findings());
  watch(live, 1);
  const auto axis = live.lines()[static_cast<std::size_t>(live.line_of("─now"))];
  EXPECT_THAT(axis, HasSubstr("-30s"));
  EXPECT_THAT(axis, HasSubstr("-1m"));
  EXPECT_THAT(axis, HasSubstr("-1m30s"));
  // Two dots a column; frame and axes take the rest of 120: a label of five for percentages, one of seven for bytes.
  EXPECT_TRUE(live.shows("last 3m34s, 1s a dot")) << live.text();
  live.press("Z");
  EXPECT_TRUE(live.shows(", 2s a dot"));
  EXPECT_TRUE(live.shows("plots: 2s a dot")) << "without a frame there is no title to say so";
}

TEST(Charts, SayTheTimeOfDayWhenLookingBack) {
  in_utc();
  LiveView live({120, 40}, without_findings());
  watch(live, 1, 90);
  live.press("(");
  // The samples begin at 02:31:18; the last but one is 88 s later.
  const int axis = live.line_of("02:32:46─");
  EXPECT_EQ(axis, -1);
  const auto line = live.lines()[static_cast<std::size_t>(live.line_of("─02:32:46"))];
  EXPECT_THAT(line, HasSubstr("02:32"));
  EXPECT_THAT(line, HasSubstr("02:31"));
  EXPECT_FALSE(live.shows("─now"));
  live.press("L");
  EXPECT_TRUE(live.shows("─now"));
}

TEST(Charts, HaveTicksBetweenNothingAndAll) {
  LiveView live({120, 60}, without_findings());
  watch(live, 1);
  for (const auto tick : {"100%┤", "75%┤", "50%┤", "25%┤", "0┤"}) EXPECT_TRUE(live.shows(tick)) << tick;
}

TEST(Charts, BytesBesidePercentagesHaveAnAxisOfTheirOwn) {
  LiveView live({120, 50}, without_findings());
  watch(live, 1);
  for (const auto tick : {"├140G", "├70.2G", "├0"}) EXPECT_TRUE(live.shows(tick)) << tick;
  // A third unit finds no side free, so its curve says what its top is.
  auto settings = default_settings();
  settings.plots.push_back(device_metric("power_draw_watts"));
  LiveView more({160, 50}, {.settings = settings, .watch = {.step = std::chrono::hours(24)}});
  watch(more, 1);
  EXPECT_TRUE(more.shows("● PWR 691W of 700W")) << more.text();
}

TEST(Charts, TheLegendNamesEveryCurve) {
  for (const auto size : {term::Size{200, 50}, term::Size{120, 40}, term::Size{120, 30}, term::Size{160, 36}}) {
    LiveView live(size, without_findings());
    watch(live, 8);
    const auto all = live.lines();
    const auto title = static_cast<std::size_t>(live.line_of("UTIL  ●"));
    ASSERT_LT(title, all.size());
    const auto legend = all[title] + all[title + 1] + all[title + 2];
    for (int gpu = 0; gpu < 8; ++gpu) {
      const bool with_value = legend.find(fmt::format("● {} {}%", gpu, 10 * gpu)) != std::string::npos;
      const bool without = legend.find(fmt::format("●{}", gpu)) != std::string::npos;
      EXPECT_TRUE(with_value || without) << gpu << " of " << size.columns << "x" << size.rows << '\n' << legend;
    }
  }
}

// How many cells of the screen have a curve in this ink.
int cells_in(LiveView &live, const term::Ink &ink) {
  const auto &screen = live.app.draw(live.now);
  int found = 0;
  for (int y = 0; y < screen.size().rows; ++y) {
    for (int x = 0; x < screen.size().columns; ++x) {
      const auto text = screen.at(x, y).text();
      found += text >= "\u2801" && text <= "\u28ff" && screen.at(x, y).ink == ink ? 1 : 0;
    }
  }
  return found;
}

TEST(Charts, TheChosenGpuStandsOutAndTheOthersStepBack) {
  LiveView live({160, 50}, without_findings());
  watch(live, 8);
  const auto &theme = tui::theme(ThemeName::dark);
  EXPECT_GT(cells_in(live, theme.curves[2]), 0);
  EXPECT_GT(cells_in(live, theme.curves[5]), 0);
  EXPECT_EQ(cells_in(live, theme.border), 0);
  live.press("b b b");  // GPU 2
  EXPECT_GT(cells_in(live, theme.curves[2]), 0) << "in the colour it had";
  EXPECT_EQ(cells_in(live, theme.curves[5]), 0);
  EXPECT_GT(cells_in(live, theme.border), 0);
  EXPECT_TRUE(live.shows("UTIL  ● 2 20%")) << "and its value is the first";
}

TEST(Charts, ManyGpusAreTheirMeanAndTheEnds) {
  LiveView live({200, 60}, without_findings());
  watch(live, 11);  // 0 to 100 %
  EXPECT_TRUE(live.shows("● mean 50%"));
  EXPECT_TRUE(live.shows("● highest 100% GPU 10"));
  EXPECT_TRUE(live.shows("● lowest 0% GPU 0"));
  live.press("b b b b");
  EXPECT_TRUE(live.shows("UTIL  ● 3 30%  ● mean 50%")) << live.text();
}

// Columns from the first to the last dot of the line with most of them that have no dot.
int widest_gap(LiveView &live) {
  const auto &screen = live.app.draw(live.now);
  int widest = 0;
  for (int y = 0; y < screen.size().rows; ++y) {
    int last = -1;
    for (int x = 0; x < screen.size().columns; ++x) {
      const auto text = screen.at(x, y).text();
      if (text < "\u2801" || text > "\u28ff") continue;
      if (last >= 0) widest = std::max(widest, x - last - 1);
      last = x;
    }
  }
  return widest;
}

TEST(Charts, ATimeWithoutSamplesIsAGap) {
  auto settings = default_settings();
  settings.plots = {kUse};
  LiveView live({120, 40}, {.settings = settings, .watch = {.step = std::chrono::hours(24)}});
  for (int i = 0; i < 20; ++i) live.sample(at(i, 1));
  EXPECT_EQ(widest_gap(live), 0);
  for (int i = 60; i < 80; ++i) live.sample(at(i, 1));
  EXPECT_NEAR(widest_gap(live), 20, 1) << "40 s without a sample, two a column";
}

TEST(Charts, PerGpuPlotsPageThroughAllAndSayWhich) {
  auto settings = default_settings();
  settings.plot_mode = PlotMode::per_device;
  LiveView live({160, 50}, {.settings = settings, .watch = {.step = std::chrono::hours(24)}});
  watch(live, 24);
  std::set<int> seen;
  EXPECT_TRUE(live.shows(" of 24, ; for more"));
  for (int page = 0; page < 24; ++page) {
    for (int gpu = 0; gpu < 24; ++gpu) {
      if (live.shows(fmt::format("{} H200  ●", gpu))) seen.insert(gpu);
    }
    live.press(";");
  }
  EXPECT_EQ(seen.size(), 24U);
  live.press("b b b b b b");
  const auto first = live.lines()[static_cast<std::size_t>(live.line_of("H200  ●"))];
  EXPECT_THAT(first, HasSubstr("│5 H200  ●")) << "from the chosen one on";
}

}  // namespace
}  // namespace gpulse::tui

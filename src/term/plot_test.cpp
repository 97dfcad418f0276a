// SPDX-License-Identifier: Apache-2.0
#include "term/plot.hpp"

#include <gtest/gtest.h>

namespace gpulse::term {
namespace {

using Lines = std::vector<std::string>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Lines plotted(const std::vector<float> &values, Size size, double high, const PlotStyle &style = {}) {
  Screen screen(size);
  const Curve curve{values, {}, high};
  draw_plot(Area(screen), {&curve, 1}, style);
  return screen.lines();
}

std::string sparkline(const std::vector<float> &values, int columns, bool unicode = true) {
  Screen screen({columns, 1});
  draw_sparkline(Area(screen), values, 0, 7, {}, unicode);
  return screen.text();
}

std::string meter(double share, int columns, bool unicode = true) {
  Screen screen({columns, 1});
  draw_meter(Area(screen), share, {}, {}, unicode);
  return screen.text();
}

TEST(Plot, HoldsTwoValuesPerColumnInBraille) {
  EXPECT_EQ(plot_values(40, true), 80);
  EXPECT_EQ(plot_values(40, false), 40);
  EXPECT_EQ(plot_values(-1, true), 0);
}

TEST(Plot, DrawsTheNewestValueAtTheRight) {
  EXPECT_EQ(plotted({0}, {2, 1}, 3), Lines{" ⢀"});
  EXPECT_EQ(plotted({0, 3}, {2, 1}, 3), Lines{" ⡸"});  // joined: the right column from the second dot up
  EXPECT_EQ(plotted({0, 0, 1, 2}, {2, 1}, 3), Lines{"⣀⠔"});
  // More than fit: the oldest are left out.
  EXPECT_EQ(plotted({3, 3, 3, 0, 0}, {1, 1}, 3), Lines{"⣀"});
  EXPECT_EQ(plotted({0}, {2, 1}, 3, {.newest_left = true}), Lines{"⡀"});
}

TEST(Plot, SpansAllRows) {
  EXPECT_EQ(plotted({0, 100}, {1, 2}, 100), (Lines{"⢸", "⡸"}));
  EXPECT_EQ(plotted({100, 0}, {1, 2}, 100), (Lines{"⢱", "⢸"}));
}

TEST(Plot, LeavesAGapWhereThereIsNoValue) {
  EXPECT_EQ(plotted({0, kGap, 3, 3}, {2, 1}, 3), Lines{"⡀⠉"});
  EXPECT_EQ(plotted({kGap, kGap}, {2, 1}, 3), Lines{""});
}

TEST(Plot, DrawsWhatLiesOutsideAtTheEdge) {
  EXPECT_EQ(plotted({99, kInfinity}, {1, 1}, 3), Lines{"⠉"});
  EXPECT_EQ(plotted({-99, -kInfinity}, {1, 1}, 3), Lines{"⣀"});
  EXPECT_EQ(plotted({5, 5}, {1, 1}, 0), Lines{"⣀"});
}

TEST(Plot, FillsDownToTheBottom) {
  EXPECT_EQ(plotted({0, 1, 2, 3}, {2, 1}, 3, {.filled = true}), Lines{"⣠⣾"});
  EXPECT_EQ(plotted({3, kGap}, {1, 1}, 3, {.filled = true}), Lines{"⡇"});
}

TEST(Plot, ReadsInAsciiToo) {
  // Three heights per line.
  EXPECT_EQ(plotted({0, 1, 2, 3, 4, 5}, {6, 2}, 5, {.unicode = false}), (Lines{"   .-'", ".-'"}));
  EXPECT_EQ(plotted({0, 5}, {2, 2}, 5, {.unicode = false}), (Lines{" |", ".|"}));
  EXPECT_EQ(plotted({0, 1, 2, 5}, {4, 2}, 5, {.unicode = false, .filled = true}), (Lines{"   #", ".=##"}));
}

TEST(Plot, LetsTheLaterCurveWinACell) {
  Screen screen({2, 1});
  const std::vector<float> top{3, 3, 3, 3}, bottom{0, 0};
  const std::vector<Curve> curves{{top, {.fore = Tint::ansi(1)}, 3}, {bottom, {.fore = Tint::ansi(2)}, 3}};
  draw_plot(Area(screen), curves, {});
  EXPECT_EQ(screen.text(), "⠉⣉\n");
  EXPECT_EQ(screen.at(0, 0).ink.fore(), Tint::ansi(1));
  EXPECT_EQ(screen.at(1, 0).ink.fore(), Tint::ansi(2));
}

TEST(Plot, DrawsNothingWhereThereIsNoRoom) {
  EXPECT_EQ(plotted({1, 2, 3}, {0, 0}, 100), Lines{});
  EXPECT_EQ(plotted({1, 2, 3}, {3, 0}, 100), Lines{});
  EXPECT_EQ(plotted({}, {2, 1}, 100), Lines{""});
}

TEST(Sparkline, ShowsOneValuePerColumn) {
  EXPECT_EQ(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█\n");
  EXPECT_EQ(sparkline({7, 7, kGap, 0}, 6), "  ██ ▁\n");
  EXPECT_EQ(sparkline({7, 7, 0, 9}, 2), "▁█\n");
  EXPECT_EQ(sparkline({0, 1.75F, 3.5F, 5.25F, 7}, 5, false), "_.-=#\n");
  EXPECT_EQ(sparkline({1}, 0), "\n");
}

TEST(Meter, FillsToHalfAColumn) {
  EXPECT_EQ(meter(0, 4), "────\n");
  EXPECT_EQ(meter(0.5, 4), "━━──\n");
  EXPECT_EQ(meter(0.625, 4), "━━╸─\n");
  EXPECT_EQ(meter(1, 4), "━━━━\n");
  EXPECT_EQ(meter(7, 4), "━━━━\n");
  EXPECT_EQ(meter(-7, 4), "────\n");
  EXPECT_EQ(meter(kGap, 4), "────\n");
  EXPECT_EQ(meter(0.5, 4, false), "||..\n");
  EXPECT_EQ(meter(0.5, 0), "\n");
}

TEST(Meter, HasOneInkForEachPart) {
  Screen screen({2, 1});
  draw_meter(Area(screen), 0.5, {.fore = Tint::ansi(2)}, {.attributes = kDim}, true);
  EXPECT_EQ(screen.at(0, 0).ink, (Ink{.fore = Tint::ansi(2)}));
  EXPECT_EQ(screen.at(1, 0).ink, (Ink{.attributes = kDim}));
}

}  // namespace
}  // namespace gpulse::term

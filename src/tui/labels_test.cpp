// SPDX-License-Identifier: Apache-2.0
// Nothing is written over a column that cannot be asked about.
#include "tui/labels.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tui/testing.hpp"
#include "view/explain.hpp"
#include "view/glossary.hpp"

namespace gpulse::tui {
namespace {

using testing::crowded;
using ::testing::HasSubstr;
using testing::LiveView;
using testing::make_snapshot;

// Every label that a panel or a page can show: of all metrics that views iterate, of all columns, and the rest.
std::set<std::string> all_labels() {
  std::set<std::string> labels;
  for (const auto scope : {Scope::device, Scope::process, Scope::host, Scope::core}) {
    for_each_metric(scope, [&](MetricId, const Metric &metric) { labels.emplace(metric.label); });
  }
  for (const auto &column : all_columns()) labels.emplace(label(column));
  for (const auto &term : view::terms()) labels.emplace(term.label);
  return labels;
}

TEST(Labels, AreAllExplained) {
  const auto labels = all_labels();
  EXPECT_GT(labels.size(), 200U);
  for (const auto &label : labels) {
    EXPECT_NE(view::label_line(label), "") << label;
    EXPECT_TRUE(view::explain(label, {})) << label;
  }
}

// What is in the ink of a heading on a heading's line must be known, at any size.
TEST(Labels, OnTheScreenAreAllKnown) {
  for (const auto size : {term::Size{80, 24}, term::Size{120, 30}, term::Size{200, 50}}) {
    LiveView live(size);
    live.sample(crowded(2, 6));
    const auto &screen = live.app.draw(live.now);
    const auto labels = labels_on(screen, theme(ThemeName::dark));
    EXPECT_GE(labels.size(), 20U);
    const auto heading = term::CellInk(theme(ThemeName::dark).heading);
    for (int y = 0; y < size.rows; ++y) {
      for (int x = 0; x < size.columns; ++x) {
        const auto &cell = screen.at(x, y);
        if (cell.ink != heading || cell.text() == " ") continue;
        const bool known =
            std::ranges::any_of(labels, [&](const PlacedLabel &each) { return each.where.contains(x, y); });
        EXPECT_TRUE(known) << "column " << x << " of " << screen.lines()[static_cast<std::size_t>(y)];
      }
    }
  }
}

TEST(Labels, OfTwoWordsAreOne) {
  LiveView live({200, 50});
  live.sample(crowded(2, 6));
  std::set<std::string> seen;
  for (const auto &each : labels_on(live.app.draw(live.now), theme(ThemeName::dark))) seen.insert(each.label);
  EXPECT_TRUE(seen.contains("GPU MEM"));
  EXPECT_TRUE(seen.contains("HOST MEM"));
  EXPECT_TRUE(seen.contains("TENS"));
}

TEST(Labels, AMouseThatRestsOnOneIsTold) {
  LiveView live({120, 40});
  live.sample(make_snapshot(1));
  const int y = live.line_of("UTIL");
  ASSERT_GE(y, 0);
  const auto x = static_cast<int>(live.lines()[static_cast<std::size_t>(y)].find("SM "));
  // Boxes are three bytes wide and one column.
  const int column = x - 2;
  live.app.handle(term::MouseEvent{.action = term::MouseAction::move, .x = column, .y = y}, live.now);
  EXPECT_TRUE(live.shows("SM: ")) << live.text();
  EXPECT_TRUE(live.shows("? Help")) << "and the keys are still there";
  live.app.handle(term::MouseEvent{.action = term::MouseAction::move, .x = 1, .y = 38}, live.now);
  EXPECT_FALSE(live.shows("SM: "));
}

TEST(Labels, OneAfterTheOtherByKey) {
  LiveView live({120, 40});
  live.sample(make_snapshot(1));
  live.press("=");
  EXPECT_TRUE(live.shows("GPU: Number of the GPU"));
  live.press("Right");
  EXPECT_TRUE(live.shows("NAME: "));
  live.press("Enter");
  EXPECT_TRUE(live.shows("a heading of the tables")) << live.text();
  live.press("Esc");
  EXPECT_TRUE(live.shows("LIVE"));
}

TEST(Glossary, HasWhatIsOnTheScreenNow) {
  LiveView live({120, 60});
  live.sample(make_snapshot(1));
  EXPECT_TRUE(live.shows("TENS"));
  live.press("?");
  EXPECT_TRUE(live.shows("─ Keys ─"));
  live.press("?");
  EXPECT_TRUE(live.shows("─ On the screen ─"));
  EXPECT_TRUE(live.shows("TENS"));
  EXPECT_FALSE(live.shows("LOOK AT")) << "nothing is held back, so that column is not there";
  live.press("Esc");
  EXPECT_TRUE(live.shows("LIVE"));
}

TEST(Explain, KnowsTheWordsOnNvidiaSmisScreen) {
  const auto said = [](std::string_view name) { return view::explain(name, {}).value_or("nothing"); };
  EXPECT_THAT(said("Persistence-M"), HasSubstr("stays loaded"));
  EXPECT_THAT(said("Disp.A"), HasSubstr("screen is drawn"));
  EXPECT_THAT(said("Pwr:Usage/Cap"), HasSubstr("power_draw_watts"));
  EXPECT_THAT(said("GPU-Util"), HasSubstr("One spinning"));
  EXPECT_THAT(said("gpu-util"), HasSubstr("One spinning"));
  EXPECT_THAT(said("C+G"), HasSubstr("computes and draws"));
  EXPECT_THAT(said("P0"), HasSubstr("a value of performance_state"));
  EXPECT_THAT(said("power cap"), HasSubstr("a value of throttle_reasons"));
  EXPECT_THAT(said("GPU MEM"), HasSubstr("gpu_memory_bytes"));
  EXPECT_THAT(said("tens"), HasSubstr("tensor_active_percent"));
}

}  // namespace
}  // namespace gpulse::tui

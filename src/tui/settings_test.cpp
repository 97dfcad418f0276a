// SPDX-License-Identifier: Apache-2.0
#include "tui/settings.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"
#include "tui/loop.hpp"

namespace gpulse::tui {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// None of them as by default.
Settings all_different() {
  auto settings = default_settings();
  settings.toggle(Panel::events);
  std::swap(settings.panels[0], settings.panels[1]);
  settings.rows = DeviceRows::compact;
  settings.device_order = {DeviceOrder::Kind::metric, device_metric("power_draw_watts"), true};
  settings.device_groups = DeviceGroups::job;
  settings.hide_idle = true;
  settings.plots = {device_metric("power_draw_watts"), device_metric("temperature_gpu_celsius")};
  settings.plot_mode = PlotMode::together;
  settings.zoom = 8;
  settings.columns = {*column_named("pid"), *column_named("owner"), *column_named("threads")};
  settings.sort = *column_named("user");
  settings.descending = false;
  settings.tree = true;
  settings.only = OnlyType::compute;
  settings.totals = Totals::job;
  settings.host_plots = {host_metric("load_1m")};
  settings.theme = ThemeName::colour_blind;
  settings.mouse = false;
  settings.newest_left = true;
  return settings;
}

TEST(Settings, WhatIsWrittenReadsBack) {
  const auto settings = all_different();
  const auto read = parse_settings(write_settings(settings), "file");
  ASSERT_TRUE(read) << read.error().line();
  EXPECT_EQ(*read, settings);
}

TEST(Settings, EachOneHasItsLine) {
  const auto ours = write_settings(all_different()), usual = write_settings(default_settings());
  const auto lines = split(ours, '\n'), others = split(usual, '\n');
  ASSERT_EQ(lines.size(), others.size());
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) EXPECT_NE(lines[i], others[i]) << "is as by default";
}

TEST(Settings, AFlagHoldsForOneTimeOnly) {
  const auto file = all_different();
  const auto began = default_settings();  // every flag there could be
  EXPECT_EQ(to_remember(file, began, began), file);
  auto now = began;
  now.zoom = 2;
  auto wanted = file;
  wanted.zoom = 2;
  EXPECT_EQ(to_remember(file, began, now), wanted);
}

TEST(Settings, WhatIsSortedByAndWhichWayBelongTogether) {
  auto file = default_settings();
  file.sort = *column_named("user");
  file.descending = false;
  auto began = file;
  began.sort = *column_named("cpu_percent");
  began.descending = true;
  auto now = began;
  now.descending = false;
  EXPECT_EQ(to_remember(file, began, now).sort, *column_named("cpu_percent"));
  EXPECT_FALSE(to_remember(file, began, now).descending);
}

TEST(Settings, AFileMaySayAsLittleAsItLikes) {
  const auto read =
      parse_settings("theme = \"light\"\nsort = \"-cpu_percent\"\npanels = [\"processes\", \"gpus\"]\n", "file");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->theme, ThemeName::light);
  EXPECT_EQ(key(read->sort), "cpu_percent");
  EXPECT_TRUE(read->descending);
  EXPECT_EQ(read->panels[0].panel, Panel::processes);
  EXPECT_EQ(read->panels[1].panel, Panel::devices);
  EXPECT_FALSE(read->shows(Panel::host));
  EXPECT_EQ(read->columns, default_columns());
  EXPECT_EQ(*parse_settings("", "file"), default_settings());
}

TEST(Settings, SaysWhatItDoesNotUnderstand) {
  const auto wrong = [](std::string_view text) {
    const auto read = parse_settings(text, "top.toml");
    return read ? "nothing" : read.error().line();
  };
  EXPECT_EQ(wrong("colour = 1"), "top.toml: colour: is no setting");
  EXPECT_EQ(wrong("theme = \"pink\""), "top.toml: theme: one of dark, light, colour-blind, mono");
  EXPECT_EQ(wrong("rows = 2"), "top.toml: rows: one of auto, full, compact");
  EXPECT_EQ(wrong("plots = [\"uuid\"]"), "top.toml: plots: \"uuid\" is not known");
  EXPECT_EQ(wrong("columns = [\"what\"]"), "top.toml: columns: \"what\" is not known");
  EXPECT_EQ(wrong("columns = 3"), "top.toml: columns: a list of names in brackets");
  EXPECT_EQ(wrong("mouse = \"yes\""), "top.toml: mouse: true or false");
  EXPECT_EQ(wrong("zoom = 0"), "top.toml: zoom: a number from 1 to 64");
  EXPECT_EQ(wrong("sort = \"what\""), "top.toml: sort: a column, with + or - before it");
  EXPECT_THAT(wrong("\n\nrows ="), StartsWith("top.toml, line 3: "));
}

TEST(Settings, TheCommentAtTheTopOfAFileStays) {
  const auto text = write_settings(default_settings(), "# of the whole team\n# ask ann\nrows = \"full\"\n");
  EXPECT_THAT(text, StartsWith("# of the whole team\n# ask ann\npanels = "));
}

TEST(Settings, OnlyAFileIsReadAndOneThatIsNotThereIsNoMistake) {
  for (const auto *never : {"/dev/zero", "/dev/full", "/tmp"}) EXPECT_FALSE(load_settings(never)) << never;
  const auto none = load_settings("/nonexistent/top.toml");
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, default_settings());
}

TEST(Settings, WhatIsOnTheScreenIsInFocus) {
  auto settings = default_settings();
  const auto usual = focus_of(settings);
  for (const auto id : {device_metric("gpu_utilization_percent"), device_metric("sm_active_percent"),
                        device_metric("throttle_reasons"), process_metric("threads"), host_metric("load_1m")}) {
    EXPECT_TRUE(usual.contains(id)) << describe(id).key;
  }
  for (const auto id : {device_metric("power_peak_watts"), device_metric("energy_joules"),
                        device_metric("fp64_active_percent"), detail_metric("board_id")}) {
    EXPECT_FALSE(usual.contains(id)) << describe(id).key;
  }
  settings.plots.push_back(device_metric("power_peak_watts"));
  EXPECT_TRUE(focus_of(settings).contains(device_metric("power_peak_watts")));
}

TEST(Settings, PlotsAreAtMostSix) {
  std::string list;
  for (const auto id : plottable_metrics()) list += "\"" + std::string(describe(id).key) + "\", ";
  const auto read = parse_settings("plots = [" + list + "]", "file");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().line(), HasSubstr("at most 6"));
}

TEST(Settings, TheDefaultColumnsAreTheOnesPeopleLookFor) {
  std::vector<std::string_view> names;
  for (const auto &column : default_columns()) names.push_back(key(column));
  EXPECT_EQ(names, (std::vector<std::string_view>{
                       "gpu", "pid", "user", "type", "gpu_memory_bytes", "gpu_utilization_percent",
                       "memory_utilization_percent", "encoder_utilization_percent", "decoder_utilization_percent",
                       "cpu_percent", "host_memory_bytes", "running_seconds", "owner", "command"}));
}

}  // namespace
}  // namespace gpulse::tui

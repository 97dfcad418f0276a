// SPDX-License-Identifier: Apache-2.0
#include "control/setting_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::control {
namespace {

using enum SettingKind;

Result<Setting> parse(const std::vector<std::string> &words) { return parse_setting(words); }

TEST(ParseSetting, TakesTheWordsOfEach) {
  EXPECT_EQ(parse({"persistence", "on"}).value(), (Setting{.kind = persistence, .low = 1}));
  EXPECT_EQ(parse({"persistence", "off"}).value(), (Setting{.kind = persistence}));
  EXPECT_EQ(parse({"ecc", "on"}).value(), (Setting{.kind = ecc, .low = 1}));
  EXPECT_EQ(parse({"compute-mode", "default"}).value(), (Setting{.kind = compute_mode}));
  EXPECT_EQ(parse({"compute-mode", "prohibited"}).value(), (Setting{.kind = compute_mode, .low = 2}));
  EXPECT_EQ(parse({"compute-mode", "exclusive-process"}).value(), (Setting{.kind = compute_mode, .low = 3}));
  EXPECT_EQ(parse({"reset"}).value(), (Setting{.kind = reset}));
}

TEST(ParseSetting, TakesWattsWithAndWithoutTheirUnit) {
  for (const auto &words : std::vector<std::vector<std::string>>{{"300"}, {"300W"}, {"300w"}, {"300", "W"}, {"3e2"}}) {
    auto all = words;
    all.insert(all.begin(), "power-limit");
    EXPECT_EQ(parse(all).value(), (Setting{.kind = power_limit, .low = 300})) << words[0];
  }
  EXPECT_EQ(parse({"power-limit", "default"}).value(), (Setting{.kind = power_limit, .to_default = true}));
}

TEST(ParseSetting, TakesOneClockOrTwo) {
  EXPECT_EQ(parse({"clocks", "1980"}).value(), (Setting{.kind = graphics_clocks, .low = 1980, .high = 1980}));
  EXPECT_EQ(parse({"clocks", "1200-1980"}).value(), (Setting{.kind = graphics_clocks, .low = 1200, .high = 1980}));
  EXPECT_EQ(parse({"memory-clocks", "1600-3201MHz"}).value(),
            (Setting{.kind = memory_clocks, .low = 1600, .high = 3201}));
  EXPECT_EQ(parse({"memory-clocks", "default"}).value(), (Setting{.kind = memory_clocks, .to_default = true}));
}

TEST(ParseSetting, SaysWhatItTakes) {
  EXPECT_THAT(parse({}).error().line(), testing::HasSubstr("one of persistence, compute-mode, power-limit"));
  EXPECT_THAT(parse({"colour", "red"}).error().line(), testing::StartsWith("no setting \"colour\": one of"));
  EXPECT_EQ(parse({"ecc"}).error().line(), "ecc needs a value: it takes on|off");
  EXPECT_EQ(parse({"reset", "now"}).error().line(), "reset cannot be \"now\": it takes no value");
  for (const auto *value : {"", "W", "0", "-3", "300V", "nan", "inf", "1e9", "300 400"}) {
    EXPECT_FALSE(parse({"power-limit", value})) << value;
  }
  for (const auto *value : {"", "-", "fast", "1980-1200", "1200-", "-1980", "1-2-3"}) {
    EXPECT_FALSE(parse({"clocks", value})) << value;
  }
  EXPECT_FALSE(parse({"compute-mode", "exclusive-thread"}));
  EXPECT_FALSE(parse({"persistence", "1"}));
}

}  // namespace
}  // namespace gpulse::control

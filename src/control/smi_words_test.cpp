// SPDX-License-Identifier: Apache-2.0
#include "control/smi_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::control {
namespace {

using enum SettingKind;

Setting smi(std::string_view option, std::string_view value) { return parse_smi_setting(option, value).value(); }
std::string smi_refusal(std::string_view option, std::string_view value) {
  return parse_smi_setting(option, value).error().text;
}

TEST(ParseSmiSetting, TakesNumbersAndWords) {
  EXPECT_EQ(smi("-pm", "1"), (Setting{.kind = persistence, .low = 1}));
  EXPECT_EQ(smi("-pm", "DISABLED"), (Setting{.kind = persistence}));
  EXPECT_EQ(smi("-e", "ENABLED"), (Setting{.kind = ecc, .low = 1}));
  EXPECT_EQ(smi("-c", "EXCLUSIVE_PROCESS"), (Setting{.kind = compute_mode, .low = 3}));
  EXPECT_EQ(smi("-c", "2"), (Setting{.kind = compute_mode, .low = 2}));
  EXPECT_EQ(smi("-pl", "312.5"), (Setting{.kind = power_limit, .low = 312.5}));
  EXPECT_EQ(smi("-lgc", "345,1980"), (Setting{.kind = graphics_clocks, .low = 345, .high = 1980}));
  EXPECT_EQ(smi("-lmc", "3201"), (Setting{.kind = memory_clocks, .low = 3201, .high = 3201}));
  EXPECT_EQ(smi("-lgc", "tdp,unlimited"), (Setting{.kind = graphics_clocks, .low = 0xFFFFFF01, .high = 0xFFFFFF02}));
  EXPECT_EQ(smi("-rgc", ""), (Setting{.kind = graphics_clocks, .to_default = true}));
  EXPECT_EQ(smi("-rmc", ""), (Setting{.kind = memory_clocks, .to_default = true}));
  EXPECT_EQ(smi("-r", ""), (Setting{.kind = reset}));
  EXPECT_EQ(smi("-ac", "3201,1980"), (Setting{.kind = application_clocks, .low = 3201, .high = 1980}));
  EXPECT_EQ(smi("-rac", ""), (Setting{.kind = application_clocks, .to_default = true}));
  EXPECT_EQ(smi("-mig", "ENABLED"), (Setting{.kind = mig, .low = 1}));
  EXPECT_EQ(smi("-p", "AGGREGATE"), (Setting{.kind = ecc_errors, .low = 1}));
  EXPECT_EQ(smi("-p", "0"), (Setting{.kind = ecc_errors}));
  EXPECT_EQ(smi("-am", "0"), (Setting{.kind = accounting}));
  EXPECT_EQ(smi("-gtt", "85"), (Setting{.kind = target_temperature, .low = 85}));
  EXPECT_EQ(smi("-caa", ""), (Setting{.kind = accounted_processes}));
}

TEST(ParseSmiSetting, RefusesAsTheOriginal) {
  EXPECT_EQ(smi_refusal("-pm", "7"), "Invalid persistence mode: 7\nTerminating early due to previous errors.\n");
  EXPECT_EQ(smi_refusal("-c", "foo"), "ERROR: Option foo is invalid for -c. Please run 'nvidia-smi -h' for help.\n\n");
  for (const auto *value : {"", "foo", "1500,", ",1500", "1500,foo", "1500,1600,1700", "-1", "1.5"}) {
    EXPECT_FALSE(parse_smi_setting("-lgc", value)) << value;
  }
  EXPECT_FALSE(parse_smi_setting("-pl", "300W"));
  for (const auto *value : {"", "3201", "3201,", ",1980", "x,1980", "1,2,3"}) {
    EXPECT_FALSE(parse_smi_setting("-ac", value)) << value;
  }
  for (const auto *value : {"", "85.5", "85C", "hot"}) EXPECT_FALSE(parse_smi_setting("-gtt", value)) << value;
}

}  // namespace
}  // namespace gpulse::control

// SPDX-License-Identifier: Apache-2.0
#include "cli/smi_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/rows.hpp"
#include "control/smi_words.hpp"

namespace gpulse::cli {
namespace {

TEST(ParseSmi, TakesTheOptionsOfEverySetting) {
  for (const auto &row : control::setting_rows()) {
    for (const auto &option : row.smi_options) {
      const bool takes_value = row.takes != control::Takes::nothing && !option.to_default;
      for (const auto typed : {option.name, option.full}) {
        std::vector<std::string_view> arguments{typed};
        const std::string_view value = row.takes == control::Takes::clock_pair ? "1,1" : "1";
        if (takes_value) arguments.emplace_back(value);
        const auto command = parse_smi(arguments);
        ASSERT_TRUE(command) << typed << ": " << command.error().text;
        EXPECT_EQ(command->mode, SmiCommand::Mode::set) << typed;
        EXPECT_EQ(command->setting.option, option.name);
        EXPECT_EQ(command->setting.value, takes_value ? value : "");
        const auto setting = control::parse_smi_setting(command->setting.option, command->setting.value);
        ASSERT_TRUE(setting) << setting.error().text;
        EXPECT_EQ(setting->kind, row.kind);
        EXPECT_EQ(setting->to_default, option.to_default);
      }
    }
  }
}

TEST(SmiHelp, HasTheOptionsOfTheSettings) {
  EXPECT_THAT(smi_help(), testing::HasSubstr(":\n" + control::smi_settings_help() + "\ngpulse's own:"));
}

}  // namespace
}  // namespace gpulse::cli

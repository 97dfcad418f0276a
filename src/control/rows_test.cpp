// SPDX-License-Identifier: Apache-2.0
#include "control/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "control/setting_words.hpp"
#include "control/smi_words.hpp"
#include "metric/format.hpp"

namespace gpulse::control {
namespace {

using testing::HasSubstr;

class EveryRow : public testing::TestWithParam<SettingRow> {};

INSTANTIATE_TEST_SUITE_P(Settings, EveryRow, testing::ValuesIn(setting_rows().begin(), setting_rows().end()),
                         [](const auto &row) {
                           std::string name(row.param.word);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

Result<Setting> parse(const SettingRow &row, std::string_view value) {
  std::vector<std::string> words{std::string(row.word)};
  if (!value.empty()) words.emplace_back(value);
  return parse_setting(words);
}

// A setting that `gpulse set` accepts for the row.
Setting example(const SettingRow &row) {
  switch (row.takes) {
    case Takes::mode:
    case Takes::which:
      return parse(row, row.modes.front().word).value();
    case Takes::watts:
    case Takes::celsius:
    case Takes::clocks:
      return parse(row, "300").value();
    case Takes::clock_pair:
      return parse(row, "3201,1980").value();
    case Takes::nothing:
      break;
  }
  return parse(row, "").value();
}

Change change_of(const Setting &setting) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->name = "H200";
  Device device;
  device.identity = std::move(identity);
  const std::vector devices{device};
  return plan(setting, Snapshot{}, devices).front();
}

TEST(Rows, NoWordOrOptionIsUsedTwice) {
  std::set<std::string_view> words, names, options;
  for (const auto &row : setting_rows()) {
    EXPECT_TRUE(words.insert(row.word).second) << row.word;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    for (const auto &option : row.smi_options) {
      EXPECT_TRUE(options.insert(option.name).second) << option.name;
      EXPECT_TRUE(options.insert(option.full).second) << option.full;
    }
  }
}

TEST_P(EveryRow, IsComplete) {
  const auto &row = GetParam();
  EXPECT_FALSE(row.word.empty());
  EXPECT_FALSE(row.name.empty());
  EXPECT_EQ(row.modes.empty(), row.takes != Takes::mode && row.takes != Takes::which);
  EXPECT_EQ(is_action(row), row.takes == Takes::nothing || row.takes == Takes::which);
  EXPECT_EQ(row.smi.mode_name.empty(), row.modes.empty());
  EXPECT_EQ(row.minimum.has_value(), row.maximum.has_value());
  EXPECT_EQ(row.smi.out_of_range.empty(), !row.minimum);
  EXPECT_EQ(row.smi.format.empty(), row.takes != Takes::clocks && row.takes != Takes::clock_pair);
  EXPECT_FALSE(row.smi.done.empty());
  EXPECT_FALSE(row.smi.refused.empty());
  ASSERT_FALSE(row.smi_options.empty());
  EXPECT_FALSE(row.smi_options.front().to_default);
  for (const auto &option : row.smi_options) {
    EXPECT_THAT(std::string(option.name), testing::MatchesRegex("-[a-z]+"));
    EXPECT_THAT(std::string(option.full), testing::MatchesRegex("--[a-z-]+"));
  }
}

TEST_P(EveryRow, CallsItsModesAsTheirMetricDoes) {
  const auto &row = GetParam();
  for (const auto &mode : row.modes) {
    EXPECT_EQ(find_mode(row, mode.value), &mode);
    if (is_action(row)) continue;
    ASSERT_FALSE(row.shown_by.empty());
    // Words that gpulse set does not offer are nvidia-smi's: EXCLUSIVE_THREAD.
    auto word = mode.word.empty() ? lower(mode.smi_word) : std::string(mode.word);
    std::replace_if(word.begin(), word.end(), [](char c) { return c == '-' || c == '_'; }, ' ');
    EXPECT_THAT(value_words(describe(row.shown_by.front()), mode.value), testing::ElementsAre(word));
  }
}

TEST_P(EveryRow, ReadsItsOwnWords) {
  const auto &row = GetParam();
  for (const auto &mode : row.modes) {
    const Setting setting{.kind = row.kind, .low = mode.value};
    const auto parsed = parse(row, mode.word);
    EXPECT_EQ(parsed.has_value(), !mode.word.empty());
    if (parsed) {
      EXPECT_EQ(*parsed, setting);
    }
    const auto option = row.smi_options.front().name;
    EXPECT_EQ(parse_smi_setting(option, mode.smi_word).value(), setting);
    EXPECT_EQ(parse_smi_setting(option, std::to_string(static_cast<int>(mode.value))).value(), setting);
  }
  const auto setting = example(row);
  EXPECT_EQ(setting.kind, row.kind);
  if (is_action(row)) return;
  auto text = target_text(setting, change_of(setting));
  if (row.takes == Takes::mode) std::replace(text.begin(), text.end(), ' ', '-');
  EXPECT_EQ(parse(row, text).value(), setting) << text;
  EXPECT_EQ(parse(row, "default").value_or(Setting{}).to_default, has_default(row));
}

TEST_P(EveryRow, IsInBothHelps) {
  const auto &row = GetParam();
  EXPECT_THAT(settings_help(), HasSubstr("\n  " + std::string(row.word) + " "));
  for (const auto &mode : row.modes) EXPECT_THAT(settings_help(), HasSubstr(std::string(mode.word)));
  for (const auto &option : row.smi_options) {
    EXPECT_THAT(smi_settings_help(), HasSubstr(" " + std::string(option.name) + ", " + std::string(option.full)));
  }
}

TEST(Rows, BothHelpsListNothingElse) {
  std::size_t options = 0;
  for (const auto &row : setting_rows()) options += row.smi_options.size();
  const auto count = [](const std::string &text, std::string_view piece) {
    std::size_t found = 0;
    for (auto at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(smi_settings_help(), ", --"), options);
  EXPECT_EQ(count(settings_help(), "\n"), setting_rows().size());
}

TEST_P(EveryRow, HasSentencesThatCanBeFilledIn) {
  const auto &row = GetParam();
  const auto setting = example(row);
  const auto change = change_of(setting);
  std::vector sentences{smi_done(setting, change, "G")};
  if (!row.smi.already.empty()) sentences.push_back(smi_already(setting, change, "G"));
  if (!row.smi.out_of_range.empty()) sentences.push_back(smi_out_of_range(setting, change, "G"));
  for (const auto failure : {SettingFailure::invalid, SettingFailure::not_supported, SettingFailure::no_permission,
                             SettingFailure::in_use, SettingFailure::failed}) {
    sentences.push_back(smi_refused(setting, change, failure, "G", "because"));
  }
  for (const auto &sentence : sentences) {
    EXPECT_THAT(sentence, HasSubstr("G")) << "without a GPU";
    EXPECT_THAT(sentence, testing::Not(HasSubstr("  "))) << "a word is missing";
    EXPECT_THAT(sentence, testing::Not(testing::StartsWith(" "))) << "a word is missing";
    EXPECT_THAT(sentence, testing::EndsWith("\n"));
  }
  EXPECT_THAT(smi_refused(setting, change, SettingFailure::failed, "G", "because"), HasSubstr(": because\n"));
  for (const auto sentence : {row.action.intention, row.action.done, row.action.failed}) {
    EXPECT_EQ(sentence.empty(), !is_action(row));
    EXPECT_THAT(action_text(setting, sentence, "G"), testing::Not(HasSubstr("{"))) << sentence;
  }
}

}  // namespace
}  // namespace gpulse::control

// SPDX-License-Identifier: Apache-2.0
// Rules as a configuration changes them; its mistakes are in tests/test_alerts.py.
#include "alert/config.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::alert {
namespace {

using namespace std::chrono_literals;
using namespace insight;
using ::testing::SizeIs;

std::vector<AlertRule> rules(std::string_view text, std::string_view name) {
  const auto config = parse_config(text);
  EXPECT_TRUE(config.has_value()) << config.error().line();
  std::vector<AlertRule> found;
  if (config)
    std::ranges::copy_if(config->rules, std::back_inserter(found), [&](const auto &rule) { return rule.name == name; });
  return found;
}

const ReadingWithin &within(const AlertRule &rule) { return std::get<ReadingWithin>(rule.condition); }

TEST(Config, NothingIsThereWithoutItsSection) {
  const auto config = parse_config("");
  ASSERT_TRUE(config.has_value());
  EXPECT_FALSE(config->is_there);
  EXPECT_THAT(config->rules, SizeIs(alert_rules().size()));
}

TEST(Config, OneSeverityAndItsThreshold) {
  const auto found =
      rules("[alerts.rule.GpuTemperatureGpu]\nfrom = 85\nfor = \"2m\"\nseverity = \"warning\"\nuntil = 80\n",
            "GpuTemperatureGpu");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(within(found[0]).from, 85);
  EXPECT_EQ(within(found[0]).below, kNoThreshold);
  EXPECT_EQ(within(found[0]).until, 80);
  EXPECT_EQ(found[0].wait, 2min);
  EXPECT_EQ(found[0].level, AlertLevel::warning);
}

TEST(Config, AThresholdForEachSeverity) {
  const auto found = rules("[alerts.rule.GpuTemperatureGpu]\nwarning = 75\ninfo = 60\n", "GpuTemperatureGpu");
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].level, AlertLevel::critical);
  EXPECT_EQ(within(found[0]).from, 90);
  EXPECT_EQ(found[1].level, AlertLevel::warning);
  EXPECT_EQ(within(found[1]).from, 75);
  EXPECT_EQ(within(found[1]).below, 90);
  EXPECT_TRUE(within(found[1]).goes_on);
  EXPECT_EQ(within(found[2]).below, 75);
}

TEST(Config, ARuleThatIsNotWanted) {
  EXPECT_THAT(rules("[alerts.rule.GpuLost]\nenabled = false\n", "GpuLost"), SizeIs(0));
}

TEST(Config, ASeverityForAFinding) {
  const auto found = rules("[alerts.rule.GpuMemoryLeak]\nseverity = \"critical\"\n", "GpuMemoryLeak");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].level, AlertLevel::critical);
}

TEST(Config, ARuleOfOnesOwn) {
  const auto found = rules(
      "[[alerts.own]]\nname = \"Idle\"\nmetric = \"gpu_utilization_percent\"\nbelow = 5\nfor = \"30m\"\nseverity = "
      "\"info\"\n",
      "Idle");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(within(found[0]).below, 5);
  EXPECT_EQ(within(found[0]).from, -kNoThreshold);
  EXPECT_EQ(found[0].wait, 30min);
  EXPECT_THAT(rules("[[alerts.own]]\nname = \"Host\"\nmetric = \"host.cpu_percent\"\nfrom = 95\n", "Host"), SizeIs(1));
}

TEST(Config, LettersBeyondAsciiBelongInQuotes) {
  const auto own = [](std::string_view text) {
    return fmt::format(
        "[alerts] # größer\n[[alerts.own]] # \"\nname = 'A'\nmetric = 'power_draw_watts'\nfrom = 1\ntext = {}\n", text);
  };
  for (const auto *text : {"\"heiß\"", "'ß\\'", "\"\\\"ß\"", "\"\"\"ß\n\"ß\"\"\"\"", "'''ß\n'ß'''", "\"a\" # ß"}) {
    const auto config = parse_config(own(text));
    EXPECT_TRUE(config.has_value()) << text << ": " << config.error().line();
  }
  for (const auto *text : {"ß", "\"a\" ß", "\"\"ß\"\""}) {
    const auto config = parse_config(own(text));
    ASSERT_FALSE(config.has_value()) << text;
    EXPECT_THAT(config.error().line(), ::testing::HasSubstr("line 6")) << text;
  }
}

TEST(Config, AReceiver) {
  const auto config = parse_config(
      "[alerts]\ngive_up = \"2h\"\n[[alerts.receiver]]\nname = \"a\"\nkind = \"webhook\"\nurl = "
      "\"https://x.example/y\"\n"
      "severity = \"critical\"\nrules = [\"Gpu*\"]\nresolved = false\ntimeout = \"3s\"\n");
  ASSERT_TRUE(config.has_value()) << config.error().line();
  ASSERT_THAT(config->receivers, SizeIs(1));
  const auto &receiver = config->receivers.front();
  EXPECT_EQ(receiver.url, "https://x.example/y");
  EXPECT_EQ(receiver.least, AlertLevel::critical);
  EXPECT_EQ(receiver.time, 3s);
  EXPECT_FALSE(receiver.resolved);
  EXPECT_EQ(config->give_up, 2h);
}

}  // namespace
}  // namespace gpulse::alert

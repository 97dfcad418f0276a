// SPDX-License-Identifier: Apache-2.0
// When an alert begins and when it is over.
#include "alert/evaluator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "alert/testing.hpp"

namespace gpulse::alert {
namespace {

using namespace std::chrono_literals;
using namespace insight;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

AlertRule rule_named(std::string_view name, std::optional<AlertLevel> level = std::nullopt) {
  for (auto &rule : alert_rules()) {
    if (rule.name == name && (!level || rule.level == level)) return rule;
  }
  ADD_FAILURE() << name;
  return {};
}

// "+GpuLost 0", "-GpuLost 0"
std::vector<std::string> words(const std::vector<Alert> &changes) {
  std::vector<std::string> all;
  for (const auto &each : changes) {
    const auto *const sign = each.phase == Phase::firing ? "+" : "-";
    all.push_back(sign + each.rule.str() + " " + each.gpu.str() + (each.detail.empty() ? "" : " " + each.detail.str()));
  }
  return all;
}

class Watched {
 public:
  explicit Watched(std::vector<AlertRule> rules) : evaluator({.rules = std::move(rules), .keep = 60s, .host = "n1"}) {}
  std::vector<std::string> at(std::chrono::seconds time, std::initializer_list<double> celsius) {
    return words(evaluator.look(at_temperature(kBegin + time, celsius)));
  }
  // The same for each second of a while.
  std::vector<std::string> from_to(int from, int to, std::initializer_list<double> celsius) {
    std::vector<std::string> all;
    for (int second = from; second <= to; ++second) {
      for (auto &word : at(std::chrono::seconds(second), celsius)) all.push_back(std::to_string(second) + word);
    }
    return all;
  }

  Evaluator evaluator;
};

AlertRule hot(std::chrono::seconds wait = 10s) {
  auto rule = threshold_rule("Hot", kTemperature, 90, kNoThreshold, AlertLevel::critical);
  rule.wait = wait;
  return rule;
}

TEST(Evaluator, ItHasToHoldForAWhile) {
  Watched watched({hot()});
  EXPECT_THAT(watched.from_to(0, 9, {95}), IsEmpty());
  EXPECT_THAT(watched.at(10s, {89}), IsEmpty());
  EXPECT_THAT(watched.from_to(11, 40, {90}), ElementsAre("21+Hot 0")) << "it begins anew";
}

TEST(Evaluator, AndNotToHoldForAWhile) {
  Watched watched({hot(0s)});
  EXPECT_THAT(watched.at(0s, {90}), ElementsAre("+Hot 0"));
  EXPECT_THAT(watched.from_to(1, 59, {20}), IsEmpty());
  EXPECT_THAT(watched.at(60s, {20}), ElementsAre("-Hot 0"));
  EXPECT_THAT(watched.from_to(61, 600, {20}), IsEmpty());
}

TEST(Evaluator, JustBelowItsThresholdItGoesOnButDoesNotBegin) {
  Watched watched({hot(0s)});
  EXPECT_THAT(watched.from_to(0, 100, {88}), IsEmpty());
  EXPECT_THAT(watched.at(101s, {91}), ElementsAre("+Hot 0"));
  EXPECT_THAT(watched.from_to(102, 400, {88}), IsEmpty()) << "87.3 is where it ends";
  EXPECT_THAT(watched.from_to(401, 460, {87}), ElementsAre("460-Hot 0"));
}

TEST(Evaluator, WhatComesAndGoesIsToldEverMoreRarely) {
  Watched watched({hot(0s)});
  int told = 0;
  // Two minutes of each, for two hours.
  for (int minute = 0; minute < 120; ++minute) {
    told +=
        static_cast<int>(watched.from_to(minute * 60, minute * 60 + 59, {minute / 2 % 2 == 0 ? 95.0 : 20.0}).size());
  }
  EXPECT_GE(told, 3);
  EXPECT_LE(told, 8) << "30 times it was hot";
}

TEST(Evaluator, EachGpuOnItsOwn) {
  Watched watched({hot(0s)});
  EXPECT_THAT(watched.at(0s, {95, 20, 95}), ElementsAre("+Hot 0", "+Hot 2"));
  EXPECT_THAT(watched.at(1s, {95, 95, 95}), ElementsAre("+Hot 1"));
  EXPECT_EQ(watched.evaluator.memory().alerts.front().summary, "GPU 0 of n1: Temperature of the processor (95 °C)");
}

TEST(Evaluator, NobodyKnowsHowHotALostGpuIs) {
  Watched watched({hot(0s), rule_named("GpuLost")});
  EXPECT_THAT(watched.at(0s, {95}), ElementsAre("+Hot 0"));
  std::vector<std::string> all;
  for (int second = 1; second <= 3 * 3600; ++second) {
    for (auto &word :
         words(watched.evaluator.look(sight(kBegin + std::chrono::seconds(second), {gpu(0, DeviceState::lost)}))))
      all.push_back(std::to_string(second) + word);
  }
  EXPECT_THAT(all, ElementsAre("61+GpuLost 0", "7200-Hot 0"));
}

TEST(Evaluator, NothingIsOverBecauseNoSamplesCome) {
  auto stale = rule_named("GpulseStale");
  Watched watched({hot(0s), stale});
  EXPECT_THAT(watched.at(0s, {95}), ElementsAre("+Hot 0"));
  std::vector<std::string> all;
  for (int second = 1; second <= 3600; ++second) {
    auto nothing = at_temperature(kBegin + std::chrono::seconds(second), {95});
    nothing.is_fresh = false;
    for (auto &word : words(watched.evaluator.look(nothing))) all.push_back(std::to_string(second) + word);
  }
  EXPECT_THAT(all, ElementsAre("61+GpulseStale "));
}

TEST(Evaluator, WhatIsCriticalIsNoWarningToo) {
  Watched watched(
      {rule_named("GpuTemperatureGpu", AlertLevel::critical), rule_named("GpuTemperatureGpu", AlertLevel::warning)});
  EXPECT_THAT(watched.from_to(0, 400, {95}), ElementsAre("300+GpuTemperatureGpu 0"));
  EXPECT_EQ(watched.evaluator.memory().alerts.front().level, AlertLevel::critical);
  // 85 is a warning, which has held all the time.
  EXPECT_THAT(watched.from_to(401, 500, {85}), ElementsAre("460+GpuTemperatureGpu 0", "460-GpuTemperatureGpu 0"));
  EXPECT_THAT(watched.from_to(501, 700, {70}), ElementsAre("560-GpuTemperatureGpu 0"));
}

TEST(Evaluator, AWarningThatBecomesCriticalIsNotOver) {
  Watched watched(
      {rule_named("GpuTemperatureGpu", AlertLevel::critical), rule_named("GpuTemperatureGpu", AlertLevel::warning)});
  EXPECT_THAT(watched.from_to(0, 310, {85}), ElementsAre("300+GpuTemperatureGpu 0"));
  EXPECT_THAT(watched.from_to(311, 700, {95}), ElementsAre("611+GpuTemperatureGpu 0"));
}

TEST(Evaluator, ACounterThatGrew) {
  auto rule = rule_named("GpuEccUncorrected");
  const auto metric = std::get<CounterGrew>(rule.condition).metric;
  Evaluator evaluator({.rules = {rule}, .keep = 60s});
  const auto look = [&](int second, double count) {
    auto device = gpu(0);
    device.row[metric] = count;
    return words(evaluator.look(sight(kBegin + std::chrono::seconds(second), {device})));
  };
  EXPECT_THAT(look(0, 7), IsEmpty()) << "what was before is none of it";
  EXPECT_THAT(look(1, 8), ElementsAre("+GpuEccUncorrected 0"));
  EXPECT_THAT(look(3000, 8), IsEmpty());
  EXPECT_THAT(look(3700, 8), ElementsAre("-GpuEccUncorrected 0")) << "an hour later";
  EXPECT_THAT(look(3701, 0), IsEmpty()) << "it began anew";
  EXPECT_THAT(look(3702, 2), ElementsAre("+GpuEccUncorrected 0"));
}

TEST(Evaluator, WhatGrewWhileTheAgentWasAway) {
  auto rule = rule_named("GpuEccUncorrected");
  const auto metric = std::get<CounterGrew>(rule.condition).metric;
  const auto look = [&](Evaluator &evaluator, int second, double count) {
    auto device = gpu(0);
    device.row[metric] = count;
    return words(evaluator.look(sight(kBegin + std::chrono::seconds(second), {device})));
  };
  Evaluator before({.rules = {rule}});
  EXPECT_THAT(look(before, 0, 7), IsEmpty());
  Evaluator after({.rules = {rule}}, before.memory());
  EXPECT_THAT(look(after, 60, 8), ElementsAre("+GpuEccUncorrected 0"));
}

TEST(Evaluator, AnErrorOfTheDriverCountsForAQuarterOfAnHour) {
  Evaluator evaluator({.rules = {rule_named("GpuXid"), rule_named("GpuXidOfProgram")}, .keep = 0s});
  const auto look = [&](int second, std::vector<XidCount> xids) {
    auto seen = sight(kBegin + std::chrono::seconds(second), {gpu(0)});
    seen.tally.devices.push_back({.uuid = "GPU-0", .id = DeviceId{.index = 0}, .xids = std::move(xids)});
    return words(evaluator.look(seen));
  };
  const std::vector<XidCount> both{{.code = 79, .count = 1, .last = kBegin}, {.code = 13, .count = 1, .last = kBegin}};
  EXPECT_THAT(look(1, both), ElementsAre("+GpuXid 0 79", "+GpuXidOfProgram 0 13"));
  EXPECT_THAT(look(899, both), IsEmpty());
  EXPECT_THAT(look(900, both), ElementsAre("-GpuXid 0 79", "-GpuXidOfProgram 0 13"));
}

TEST(Evaluator, AnErrorIsOverAfterARestartToo) {
  const auto look = [&](Evaluator &evaluator, int second, std::vector<XidCount> xids) {
    auto seen = sight(kBegin + std::chrono::seconds(second), {gpu(0)});
    seen.tally.devices.push_back({.uuid = "GPU-0", .id = DeviceId{.index = 0}, .xids = std::move(xids)});
    return words(evaluator.look(seen));
  };
  Evaluator before({.rules = {rule_named("GpuXid")}, .keep = 0s});
  EXPECT_THAT(look(before, 1, {{.code = 79, .count = 1, .last = kBegin}}), ElementsAre("+GpuXid 0 79"));
  Evaluator after({.rules = {rule_named("GpuXid")}, .keep = 0s}, before.memory());
  EXPECT_THAT(look(after, 60, {}), IsEmpty());
  EXPECT_THAT(look(after, 901, {}), ElementsAre("-GpuXid 0 79"));
}

TEST(Evaluator, HeldBackForATenthOfTheTime) {
  auto rule = rule_named("GpuHeldBack");
  rule.wait = 0s;
  const auto held = std::get<HeldBack>(rule.condition);
  const auto place = static_cast<std::size_t>(std::ranges::find(totalled(), held.metric) - totalled().begin());
  const auto bit = static_cast<std::size_t>(std::countr_zero(held.bits));
  Evaluator evaluator({.rules = {rule}, .keep = 0s});
  std::vector<std::string> all;
  for (int second = 0; second <= 900; ++second) {
    auto seen = sight(kBegin + std::chrono::seconds(second), {gpu(0)});
    DeviceTally tally{.uuid = "GPU-0", .id = DeviceId{.index = 0}};
    tally.bits.resize(totalled().size());
    tally.bits[place].resize(bit + 1);
    tally.bits[place][bit] = std::min(second, 100);  // all of the first 100 seconds
    seen.tally.devices.push_back(std::move(tally));
    for (auto &word : words(evaluator.look(seen))) all.push_back(std::to_string(second) + word.substr(0, 14));
  }
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0], "31+GpuHeldBack 0") << "more than 30 of 300 seconds";
  // What is left of it after five minutes, in steps of as many seconds.
  EXPECT_GE(std::stoi(all[1]), 365);
  EXPECT_LE(std::stoi(all[1]), 375);
}

TEST(Evaluator, AFindingIsAsGraveAsItIs) {
  Evaluator evaluator({.rules = {rule_named("GpuMemoryLeak")}, .keep = 0s});
  std::vector<Alert> told;
  for (int second = 0; second <= 601; ++second) {
    auto seen = sight(kBegin + std::chrono::seconds(second), {gpu(0), gpu(1)});
    if (second < 601)
      seen.tally.findings = {{.id = FindingId::memory_leak, .weight = Weight::note, .uuid = "GPU-0"},
                             {.id = FindingId::memory_leak, .weight = Weight::problem, .uuid = "GPU-1"}};
    for (auto &each : evaluator.look(seen)) told.push_back(each);
  }
  EXPECT_THAT(words(told), ElementsAre("+GpuMemoryLeak 0", "+GpuMemoryLeak 1", "-GpuMemoryLeak 0", "-GpuMemoryLeak 1"));
  EXPECT_EQ(told[0].level, AlertLevel::info);
  EXPECT_EQ(told[1].level, AlertLevel::warning);
}

TEST(Evaluator, WhatIsSilentIsToldWhenTheSilenceEnds) {
  Watched watched({hot(0s)});
  watched.evaluator.set_silences({{.rule = "Ho*", .gpu = "0", .until = kBegin + 10s}, {.rule = "*", .gpu = "GPU-2"}});
  EXPECT_THAT(watched.at(0s, {95, 95, 95}), ElementsAre("+Hot 1"));
  EXPECT_THAT(watched.at(9s, {95, 95, 95}), IsEmpty());
  EXPECT_THAT(watched.at(10s, {95, 95, 95}), ElementsAre("+Hot 0"));
  EXPECT_THAT(watched.from_to(11, 100, {20, 20, 20}), ElementsAre("70-Hot 0", "70-Hot 1")) << "2 was never told";
}

TEST(Evaluator, ARuleThatIsGoneIsOver) {
  Watched watched({hot(0s)});
  EXPECT_THAT(watched.at(0s, {95}), ElementsAre("+Hot 0"));
  watched.evaluator.configure({});
  EXPECT_THAT(watched.at(1s, {95}), ElementsAre("-Hot 0"));
}

TEST(Evaluator, AClockThatIsSetEndsNothing) {
  Watched watched({hot(10s)});
  EXPECT_THAT(watched.from_to(0, 5, {95}), IsEmpty());
  watched.evaluator.shift(1h);
  EXPECT_THAT(watched.from_to(3606, 3620, {95}), ElementsAre("3610+Hot 0"));
}

TEST(Evaluator, AgainIsAnotherAlert) {
  Watched watched({hot(0s)});
  watched.at(0s, {95});
  const auto first = watched.evaluator.memory().alerts.front().id;
  watched.from_to(1, 61, {20});
  watched.at(62s, {95});
  EXPECT_THAT(watched.evaluator.memory().alerts, SizeIs(1));
  EXPECT_NE(watched.evaluator.memory().alerts.front().id, first);
}

TEST(Evaluator, BelowAThreshold) {
  auto rule = threshold_rule("Cold", kTemperature, -kNoThreshold, 30, AlertLevel::info);
  rule.wait = 0s;
  std::get<ReadingWithin>(rule.condition).until = 40;
  Watched watched({rule});
  EXPECT_THAT(watched.at(0s, {30}), IsEmpty());
  EXPECT_THAT(watched.at(1s, {29}), ElementsAre("+Cold 0"));
  EXPECT_THAT(watched.from_to(2, 200, {39}), IsEmpty());
  EXPECT_THAT(watched.from_to(201, 300, {40}), ElementsAre("260-Cold 0"));
}

TEST(Fits, StarsStandForAnything) {
  for (const auto *pattern : {"*", "GpuLost", "Gpu*", "*Lost", "G*L*t", "GpuLost*", "**"}) {
    EXPECT_TRUE(fits(pattern, "GpuLost")) << pattern;
  }
  for (const auto *pattern : {"", "Gpu", "gpulost", "Gpu*x", "Lost*", "GpuLost?"}) {
    EXPECT_FALSE(fits(pattern, "GpuLost")) << pattern;
  }
}

}  // namespace
}  // namespace gpulse::alert

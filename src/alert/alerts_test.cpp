// SPDX-License-Identifier: Apache-2.0
// The whole of it: what it sees on one side, what receivers are told on the other.
#include "alert/alerts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "alert/testing.hpp"
#include "base/temporary_folder.hpp"

namespace gpulse::alert {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Receiver program(std::string name, std::string script, std::string argument = "x") {
  return {.name = std::move(name),
          .kind = ReceiverKind::exec,
          .command = {"/bin/sh", "-c", std::move(script), std::move(argument)}};
}

AlertsOptions options(std::vector<Receiver> receivers, const double &celsius) {
  auto rule = insight::threshold_rule("Hot", kTemperature, 90, kNoThreshold, AlertLevel::critical);
  rule.wait = 0s;
  return {.config = {.is_there = true, .rules = {rule}, .receivers = std::move(receivers), .keep = 0s, .group = 0s},
          .host = "n1",
          .look = [&celsius] { return at_temperature({}, {celsius}); },
          .every = 5ms,
          .first_wait = 1ms};
}

template <class Condition>
bool wait_until(Condition holds) {
  for (int i = 0; i < 2000 && !holds(); ++i) std::this_thread::sleep_for(5ms);
  return holds();
}

std::string content(const std::string &file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(Alerts, OneThatRefusesIsGivenUpAndTheOtherIsTold) {
  const TemporaryFolder folder;
  const auto out = folder.path() + "/out";
  const double hot = 95;
  Alerts alerts(
      options({program("bad", "exit 1"), program("good", R"(echo "$GPULSE_ALERT_SUMMARY" >> "$0")", out)}, hot));
  EXPECT_TRUE(wait_until([&] { return alerts.numbers().receivers.at(0).given_up == 1; }));
  EXPECT_TRUE(wait_until([&] { return alerts.numbers().receivers.at(1).sent == 1; }));
  const auto bad = alerts.numbers().receivers.at(0);
  EXPECT_EQ(bad.failed, 5U);
  EXPECT_EQ(bad.waiting, 0U);
  EXPECT_EQ(content(out), "GPU 0 of n1: Temperature of the processor (95 °C)\n");
  const auto report = alerts.report();
  ASSERT_THAT(report.alerts, SizeIs(1));
  EXPECT_TRUE(report.alerts[0].is_firing);
  EXPECT_EQ(report.receivers.at(0).problem, "it ended with 1");
}

TEST(Alerts, AReceiverThatHangsKeepsNobodyWaiting) {
  const TemporaryFolder folder;
  const auto out = folder.path() + "/out";
  const double hot = 95;
  auto slow = program("slow", "sleep 1000");
  slow.time = 1000s;
  const auto begun = monotonic_now();
  {
    Alerts alerts(options({slow, program("good", R"(echo told > "$0")", out)}, hot));
    EXPECT_TRUE(wait_until([&] { return alerts.numbers().receivers.at(1).sent == 1; }));
    EXPECT_EQ(alerts.report().receivers.at(0).waiting, 1U);
  }
  EXPECT_LT(monotonic_now() - begun, 15s) << "nor the end of the agent";
}

TEST(Alerts, WhatWasNotToldIsToldByTheNextAgentUnderTheSameKey) {
  const TemporaryFolder folder;
  const auto out = folder.path() + "/out";
  const double hot = 95;
  const auto note = [&](const std::string &end) {
    return program("p", R"(echo "$GPULSE_ALERT_KEY" >> "$0"; )" + end, out);
  };
  auto first = options({note("sleep 1000")}, hot);
  first.state_file = folder.path() + "/state";
  {
    Alerts alerts(first);
    EXPECT_TRUE(wait_until([&] { return !content(out).empty(); }));
  }
  auto second = options({note("exit 0")}, hot);
  second.state_file = first.state_file;
  Alerts alerts(second);
  EXPECT_TRUE(wait_until([&] { return alerts.numbers().receivers.at(0).sent == 1; }));
  std::istringstream lines(content(out));
  std::string before, after;
  lines >> before >> after;
  EXPECT_THAT(before, SizeIs(32));
  EXPECT_EQ(before, after);
}

TEST(Alerts, AReloadTakesAlongWhatWaits) {
  const double hot = 95;
  const auto given = options({program("p", "sleep 1000"), program("gone", "sleep 1000")}, hot);
  Alerts alerts(given);
  EXPECT_TRUE(wait_until([&] { return alerts.report().receivers.at(0).waiting == 1; }));
  auto now = given.config;
  now.receivers = {program("p", "exit 0")};
  alerts.reload(now);
  EXPECT_TRUE(wait_until([&] { return alerts.numbers().receivers.at(0).sent == 1; }));
  EXPECT_TRUE(alerts.silence({.rule = "Hot", .gpu = {}, .time = 1h}).has_value());
  EXPECT_FALSE(alerts.silence({.rule = "Hod", .gpu = {}, .time = 1h}).has_value());
  const auto report = alerts.report();
  EXPECT_THAT(report.receivers, SizeIs(1));
  ASSERT_THAT(report.alerts, SizeIs(1));
  EXPECT_TRUE(report.alerts[0].is_silent);
}

TEST(Alerts, AFolderThatTakesNothingIsNoReasonToSayNothing) {
  const TemporaryFolder folder;
  const auto out = folder.path() + "/out";
  const double hot = 95;
  auto given = options({program("p", R"(echo told > "$0")", out)}, hot);
  given.state_file = "/proc/nothing/alerts.state";
  Alerts alerts(given);
  EXPECT_TRUE(wait_until([&] { return alerts.numbers().receivers.at(0).sent == 1; }));
  EXPECT_THAT(alerts.report().problem.str(), HasSubstr("/proc/nothing"));
}

}  // namespace
}  // namespace gpulse::alert

// SPDX-License-Identifier: Apache-2.0
#include "control/change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/setting_words.hpp"

namespace gpulse::control {
namespace {

using enum SettingKind;

constexpr MetricId kLimit = device_metric("power_limit_requested_watts");

Device device(std::uint32_t index, std::string name = "H200") {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = "GPU-" + std::to_string(index);
  identity->name = std::move(name);
  Device one;
  one.id.index = index;
  one.identity = std::move(identity);
  one.row[kLimit] = 700;
  one.row[device_metric("power_limit_default_watts")] = 700;
  one.row[device_metric("power_limit_min_watts")] = 200;
  one.row[device_metric("power_limit_max_watts")] = 700;
  return one;
}

Obstacle obstacle(const Setting &setting, const Device &one) {
  const std::vector devices{one};
  return plan(setting, Snapshot{}, devices).front().obstacle;
}

TEST(Plan, ChecksAPowerLimitAgainstTheDevicesRange) {
  const auto limit = [](double watts) { return Setting{.kind = power_limit, .low = watts}; };
  EXPECT_EQ(obstacle(limit(199.9), device(0)), Obstacle::out_of_range);
  EXPECT_EQ(obstacle(limit(200), device(0)), Obstacle::none);
  EXPECT_EQ(obstacle(limit(700.5), device(0)), Obstacle::out_of_range);
  EXPECT_EQ(obstacle(limit(700), device(0)), Obstacle::already_set);
  EXPECT_EQ(obstacle({.kind = power_limit, .to_default = true}, device(0)), Obstacle::already_set);
}

TEST(Plan, LeavesTheRangeToTheDriverWhereTheDeviceDoesNotTellIt) {
  auto one = device(0);
  one.row[device_metric("power_limit_min_watts")] = Reason::not_supported;
  one.row[device_metric("power_limit_max_watts")] = Reason::no_permission;
  EXPECT_EQ(obstacle({.kind = power_limit, .low = 9000}, one), Obstacle::none);
}

TEST(Plan, ReadsTheLimitInForceWhereNoneIsAskedFor) {
  auto one = device(0);
  one.row[kLimit] = Reason::not_supported;
  one.row[device_metric("power_limit_watts")] = 450;
  EXPECT_EQ(obstacle({.kind = power_limit, .low = 450}, one), Obstacle::already_set);
}

TEST(Plan, TriesWhereNothingShowsTheValue) {
  EXPECT_EQ(obstacle({.kind = persistence, .low = 1}, device(0)), Obstacle::none);
  EXPECT_EQ(obstacle({.kind = graphics_clocks, .low = 1, .high = 2}, device(0)), Obstacle::none);
}

TEST(Plan, FindsWhoUsesADeviceThatIsToBeReset) {
  Snapshot all;
  all.devices = {device(0), device(1), device(2)};
  all.devices[2].id = {.index = 1, .instance = 0};
  all.processes = {{.pid = 7, .device = {1, 0}, .texts = nullptr}, {.pid = 7, .device = {1}, .texts = nullptr}};
  const auto changes = plan({.kind = reset}, all, std::span(all.devices).first(2));
  EXPECT_EQ(changes[0].obstacle, Obstacle::none);
  EXPECT_EQ(changes[1].obstacle, Obstacle::in_use);
  ASSERT_EQ(changes[1].users.size(), 1U);
  EXPECT_EQ(changes[1].users[0].pid, 7U);
}

TEST(Change, IsIgnoredWhereTheDeviceShowsAnotherValue) {
  Change change{.device = device(0), .target = 300};
  EXPECT_FALSE(change.ignored());
  change.after = 300.4;
  EXPECT_FALSE(change.ignored());
  change.after = 700;
  EXPECT_TRUE(change.ignored());
  change.error = SettingError{.failure = SettingFailure::no_permission, .what = "no permission"};
  EXPECT_FALSE(change.ignored());
}

TEST(ReadBack, FindsTheSameDeviceInALaterSnapshot) {
  const Setting limit{.kind = power_limit, .low = 300};
  const std::vector devices{device(0), device(1)};
  auto changes = plan(limit, Snapshot{}, devices);
  Snapshot now;
  now.devices = {device(1)};
  now.devices[0].row[kLimit] = 300;
  read_back(limit, changes, now);
  EXPECT_FALSE(changes[0].after);
  EXPECT_EQ(changes[1].after, Reading(300));
}

TEST(Plan, KnowsWhatTheDriverForgetsWithoutPersistenceMode) {
  const auto forgotten = [](const Setting &setting, double persistence_mode) {
    std::vector devices{device(0)};
    devices[0].row[device_metric("persistence_mode")] = persistence_mode;
    return plan(setting, Snapshot{}, devices).front().soon_forgotten;
  };
  EXPECT_TRUE(forgotten({.kind = power_limit, .low = 300}, 0));
  EXPECT_FALSE(forgotten({.kind = power_limit, .low = 300}, 1));
  EXPECT_FALSE(forgotten({.kind = power_limit, .to_default = true}, 0));
  EXPECT_FALSE(forgotten({.kind = persistence, .low = 1}, 0));
  EXPECT_FALSE(forgotten({.kind = ecc, .low = 1}, 0));
}

TEST(Intention, SaysWhoFromWhatToWhat) {
  const Setting limit{.kind = power_limit, .low = 300};
  const std::vector devices{device(0, "NVIDIA H200"), device(3)};
  const auto changes = plan(limit, Snapshot{}, devices);
  const std::vector one{&changes[0]}, both{&changes[0], &changes[1]};
  EXPECT_EQ(intention(limit, one, true), "Set the power limit of GPU 0 (NVIDIA H200) from 700 W to 300 W");
  EXPECT_EQ(intention(limit, both, false), "Set the power limit of GPUs 0, 3 from 700 W to 300 W");
  EXPECT_EQ(intention(limit, both, true), "Set the power limit of all 2 GPUs from 700 W to 300 W");
  EXPECT_EQ(intention({.kind = reset}, both, true), "Reset all 2 GPUs");
}

TEST(Intention, LeavesOutWhereFromWhereNothingShowsIt) {
  const Setting clocks{.kind = graphics_clocks, .low = 600, .high = 900};
  const std::vector devices{device(0)};
  const auto changes = plan(clocks, Snapshot{}, devices);
  const std::vector one{&changes[0]};
  EXPECT_EQ(intention(clocks, one, false), "Set the graphics clocks of GPU 0 (H200) to 600-900 MHz");
}

TEST(Intention, LeavesOutWhatDiffersFromDeviceToDevice) {
  const Setting to_default{.kind = power_limit, .to_default = true};
  std::vector devices{device(0), device(1)};
  devices[0].row[kLimit] = 300;
  devices[1].row[kLimit] = 300.5;
  devices[1].row[device_metric("power_limit_default_watts")] = 350;
  const auto changes = plan(to_default, Snapshot{}, devices);
  const std::vector both{&changes[0], &changes[1]}, second{&changes[1]};
  EXPECT_EQ(intention(to_default, both, true), "Set the power limit of all 2 GPUs to the default");
  EXPECT_EQ(intention(to_default, second, true), "Set the power limit of GPU 1 (H200) from 300.5 W to 350 W");
}

}  // namespace
}  // namespace gpulse::control

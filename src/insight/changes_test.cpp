// SPDX-License-Identifier: Apache-2.0
#include "insight/changes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metric/state_names.hpp"

namespace gpulse::insight {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr WallTime kThen{std::chrono::seconds(1'800'000'000)};
constexpr WallTime kNow = kThen + 1s;

Device make_device(std::uint32_t index) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = fmt::format("GPU-{}", index);
  Device device;
  device.id.index = index;
  device.identity = identity;
  device.row[device_metric("throttle_reasons")] = 0;
  device.row[device_metric("process_count")] = 0;
  return device;
}

Process make_process(std::uint32_t pid, std::uint32_t device, std::uint64_t start_ticks = 0) {
  Process process;
  process.pid = pid;
  process.device.index = device;
  process.start_ticks = start_ticks;
  auto texts = std::make_shared<TextRow>(Scope::process);
  (*texts)[process_metric("name")] = std::string("python3");
  (*texts)[process_metric("user")] = std::string("ann");
  process.texts = texts;
  return process;
}

// Two looks at a machine with three devices on which nothing happened yet.
class Changes : public ::testing::Test {
 protected:
  Changes() {
    for (std::uint32_t i = 0; i < 3; ++i) before.devices.push_back(make_device(i));
    now = before;
    before.time = kThen;
    now.time = kNow;
  }

  // "throttle GPU-0: power cap"
  std::vector<std::string> told() const {
    std::vector<std::string> lines;
    for (const auto &event : changes(before, now)) {
      lines.push_back(std::string(word(event.kind)) + (event.device.empty() ? "" : " " + event.device) + ": " +
                      event.text);
    }
    return lines;
  }
  static void throttle(Device &device, std::uint64_t bits) {
    device.row[device_metric("throttle_reasons")] = static_cast<double>(bits);
  }

  Snapshot before;
  Snapshot now;
};

TEST_F(Changes, NothingHappened) { EXPECT_THAT(told(), IsEmpty()); }

TEST_F(Changes, ThrottlingBeginsGrowsAndEnds) {
  constexpr auto kPower = state_names::throttle_bit("power cap"), kHeat = state_names::throttle_bit("sw thermal");
  throttle(now.devices[1], kPower);
  EXPECT_THAT(told(), ElementsAre("throttle GPU-1: power cap"));
  EXPECT_EQ(changes(before, now).front().time, kNow);
  throttle(before.devices[1], kPower);
  EXPECT_THAT(told(), IsEmpty()) << "it goes on";
  throttle(now.devices[1], kPower | kHeat);
  EXPECT_THAT(told(), ElementsAre("throttle GPU-1: sw thermal")) << "one more reason";
  throttle(before.devices[1], kPower | kHeat);
  throttle(now.devices[1], kHeat);
  EXPECT_THAT(told(), IsEmpty()) << "one less";
  throttle(now.devices[1], 0);
  EXPECT_THAT(told(), ElementsAre("throttle ended GPU-1: power cap, sw thermal"));
}

TEST_F(Changes, ACalmReasonHoldsNobodyBack) {
  throttle(now.devices[0], state_names::throttle_bit("idle") | state_names::throttle_bit("application clocks"));
  EXPECT_THAT(told(), IsEmpty());
  throttle(before.devices[0], state_names::throttle_bit("power cap"));
  EXPECT_THAT(told(), ElementsAre("throttle ended GPU-0: power cap"));
}

TEST_F(Changes, ThrottlingThatIsNotKnownIsNotTold) {
  auto &was = before.devices[0].row[device_metric("throttle_reasons")];
  auto &is = now.devices[0].row[device_metric("throttle_reasons")];
  was = Reason::not_sampled;
  is = static_cast<double>(state_names::throttle_bit("power cap"));
  EXPECT_THAT(told(), IsEmpty()) << "it may have been so before we looked";
  was = Reason::lost;
  EXPECT_THAT(told(), ElementsAre("throttle GPU-0: power cap")) << "a device that was away ran at no clock";
  std::swap(was, is);
  EXPECT_THAT(told(), IsEmpty());
  was = -1.0;
  is = 1e300;
  EXPECT_THAT(told(), IsEmpty()) << "no set";
}

TEST_F(Changes, AnInstanceIsNotToldOfBesideItsDevice) {
  now.devices[2].id = before.devices[2].id = {.index = 1, .instance = 0};
  throttle(now.devices[1], state_names::throttle_bit("hw thermal"));
  throttle(now.devices[2], state_names::throttle_bit("hw thermal"));
  EXPECT_THAT(told(), ElementsAre("throttle GPU-1: hw thermal"));
}

TEST_F(Changes, FallsAsleepAndWakes) {
  now.devices[0].state = DeviceState::asleep;
  EXPECT_THAT(told(), ElementsAre("asleep GPU-0: asleep"));
  std::swap(before.devices[0].state, now.devices[0].state);
  EXPECT_THAT(told(), ElementsAre("awake GPU-0: awake"));
  now.devices[0].state = DeviceState::lost;
  EXPECT_THAT(told(), IsEmpty()) << "the sampler tells that";
}

TEST_F(Changes, WhatTheSamplerToldIsNotToldTwice) {
  now.devices[0].state = DeviceState::asleep;
  now.devices[1].state = DeviceState::asleep;
  now.events.push_back({.time = kNow - 1ms, .device = "GPU-0", .kind = EventKind::asleep, .text = "asleep"});
  EXPECT_THAT(told(), ElementsAre("asleep GPU-0: asleep", "asleep GPU-1: asleep"));
  EXPECT_EQ(changes(before, now)[0].time, kNow - 1ms);
  before = now;
  now.devices[0].state = now.devices[1].state = DeviceState::ok;
  now.events.push_back({.time = kNow, .device = "GPU-0", .kind = EventKind::back, .text = "no longer asleep"});
  EXPECT_THAT(told(), ElementsAre("back GPU-0: no longer asleep", "awake GPU-1: awake"));
}

TEST_F(Changes, DevicesAreKnownByWhatTheyAreNotByTheirPlace) {
  throttle(before.devices[0], state_names::throttle_bit("power cap"));
  throttle(now.devices[0], state_names::throttle_bit("power cap"));
  before.processes.push_back(make_process(560, 0));
  now.processes.push_back(make_process(560, 2));
  std::swap(now.devices[0], now.devices[2]);
  now.devices[0].id.index = 0;
  now.devices[2].id.index = 2;
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(Changes, EventsOfTheSnapshotThatAreNew) {
  const Event old{
      .time = kThen - 5s, .device = "GPU-0", .kind = EventKind::xid, .code = 13, .text = "driver error XID 13"};
  auto again = old;
  again.time = kNow - 100ms;
  before.events = {old};
  now.events = {old};
  EXPECT_THAT(told(), IsEmpty());
  now.events.push_back(again);
  EXPECT_THAT(told(), ElementsAre("xid GPU-0: driver error XID 13")) << "the same again, later";
  EXPECT_EQ(changes(before, now).front().code, 13);
  now.events = std::vector(now.events.begin() + 1, now.events.end());
  EXPECT_THAT(told(), ElementsAre("xid GPU-0: driver error XID 13")) << "the list has lost its oldest";
  before.events.push_back(again);
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(Changes, AListThatHasGoneRoundIsAllNew) {
  const auto event = [](int code) {
    return Event{.time = kThen, .device = "", .kind = EventKind::phase, .code = code, .text = std::to_string(code)};
  };
  before.events = {event(1), event(2)};
  now.events = {event(3), event(4)};
  EXPECT_THAT(told(), ElementsAre("phase: 3", "phase: 4"));
}

TEST_F(Changes, ProcessesComeAndGo) {
  now.processes = {make_process(560, 1)};
  EXPECT_THAT(told(), ElementsAre("process GPU-1: 560 python3 (ann) came on GPU 1"));
  EXPECT_EQ(changes(before, now).front().code, 560);
  std::swap(before.processes, now.processes);
  EXPECT_THAT(told(), ElementsAre("process GPU-1: 560 python3 (ann) went from GPU 1"));
  now.processes = before.processes;
  EXPECT_THAT(told(), IsEmpty());
  now.processes.push_back(make_process(560, 2));
  EXPECT_THAT(told(), ElementsAre("process GPU-2: 560 python3 (ann) came on GPU 2")) << "to one more device";
}

TEST_F(Changes, AProcessOnManyDevicesIsOneEvent) {
  now.processes = {make_process(560, 0), make_process(570, 0), make_process(560, 1), make_process(560, 2)};
  EXPECT_THAT(told(), ElementsAre("process: 560 python3 (ann) came on GPU 0, 1, 2",
                                  "process GPU-0: 570 python3 (ann) came on GPU 0"));
}

TEST_F(Changes, WhoGoesIsToldBeforeWhoComes) {
  before.processes = {make_process(900, 0)};
  now.processes = {make_process(560, 0)};
  EXPECT_THAT(told(), ElementsAre("process GPU-0: 900 python3 (ann) went from GPU 0",
                                  "process GPU-0: 560 python3 (ann) came on GPU 0"));
}

TEST_F(Changes, ANumberThatWasGivenToAnotherIsAnotherProcess) {
  before.processes = {make_process(560, 0, 1000)};
  now.processes = {make_process(560, 0, 2000)};
  EXPECT_THAT(told(), ElementsAre("process GPU-0: 560 python3 (ann) went from GPU 0",
                                  "process GPU-0: 560 python3 (ann) came on GPU 0"));
  now.processes = {make_process(560, 0, 0)};
  EXPECT_THAT(told(), IsEmpty()) << "its start cannot be told any more";
}

TEST_F(Changes, WhatIsNotKnownOfAProcessIsLeftOut) {
  now.processes = {make_process(1, 0), make_process(2, 0), make_process(3, 0)};
  now.processes[0].texts = nullptr;
  auto texts = std::make_shared<TextRow>(Scope::process);
  (*texts)[process_metric("name")] = std::string("Xorg");
  now.processes[1].texts = texts;
  texts = std::make_shared<TextRow>(Scope::process);
  (*texts)[process_metric("user")] = std::string("bob");
  now.processes[2].texts = texts;
  EXPECT_THAT(told(), ElementsAre("process GPU-0: 1 came on GPU 0", "process GPU-0: 2 Xorg came on GPU 0",
                                  "process GPU-0: 3 (bob) came on GPU 0"));
}

TEST_F(Changes, AListThatCouldNotBeReadIsNoEmptyOne) {
  before.processes = {make_process(560, 0)};
  for (const auto reason : {Reason::not_sampled, Reason::error, Reason::no_permission}) {
    now.devices[0].row[device_metric("process_count")] = reason;
    EXPECT_THAT(told(), IsEmpty());
  }
  now.devices[0].row[device_metric("process_count")] = Reason::not_supported;
  EXPECT_THAT(told(), ElementsAre("process GPU-0: 560 python3 (ann) went from GPU 0")) << "listed, but not counted";
  now.devices[0].state = DeviceState::not_responding;
  EXPECT_THAT(told(), IsEmpty()) << "nobody can tell";
  now.devices.erase(now.devices.begin());
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(Changes, AnotherOriginOrMachineIsNoNews) {
  before.origin = "DEMO";
  now.processes = {make_process(560, 0)};
  throttle(now.devices[0], state_names::throttle_bit("power cap"));
  now.events = {{.time = kNow, .device = "", .kind = EventKind::phase, .text = "training"}};
  EXPECT_THAT(told(), ElementsAre("phase: training"));
  before.origin = "";
  before.hostname = "elsewhere";
  EXPECT_THAT(told(), ElementsAre("phase: training"));
}

TEST_F(Changes, DevicesWithoutIdentityAreNoProblem) {
  before.devices[0].identity = nullptr;
  now.devices[0].identity = nullptr;
  now.devices[0].state = DeviceState::asleep;
  now.processes = {make_process(560, 0), make_process(7, 99)};
  before.devices[1].identity = now.devices[1].identity = std::make_shared<DeviceIdentity>();
  now.devices[1].state = DeviceState::asleep;
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(Changes, TheGravestFirst) {
  now.events = {{.time = kNow, .device = "GPU-0", .kind = EventKind::xid, .code = 79, .text = "driver error XID 79"}};
  now.processes = {make_process(560, 0)};
  now.devices[2].state = DeviceState::asleep;
  throttle(now.devices[1], state_names::throttle_bit("power cap"));
  EXPECT_THAT(told(), ElementsAre("xid GPU-0: driver error XID 79", "throttle GPU-1: power cap", "asleep GPU-2: asleep",
                                  "process GPU-0: 560 python3 (ann) came on GPU 0"));
}

}  // namespace
}  // namespace gpulse::insight

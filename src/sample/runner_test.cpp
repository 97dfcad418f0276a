// SPDX-License-Identifier: Apache-2.0
#include "sample/runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "sample/fake_source.hpp"

namespace gpulse {
namespace {

using namespace std::chrono_literals;
using Fake = FakeSource;
using testing::Contains;
using testing::HasSubstr;

class RunnerTest : public testing::Test {
 protected:
  void TearDown() override {
    source_->release();
    EXPECT_EQ(source_->broken_rules(), 0U);
  }

  void start(std::vector<Fake::FakeDevice> devices, RunnerOptions options = quick()) {
    source_->devices(std::move(devices));
    runner_ = std::make_unique<Runner>(source_, nullptr, options);
  }
  // Discovers whenever it can; deadlines long enough for a busy machine.
  static RunnerOptions quick() {
    return {.call_deadline = 150ms, .discover_deadline = 300ms, .retry = 1ms, .check = 0ms, .tick = 100ms};
  }
  struct Report : SourceReport {
    std::vector<Device> shown;
  };
  Report report() {
    Snapshot snapshot;
    std::size_t devices = 0;
    runner_->report(report_, snapshot, devices);
    return {report_, std::move(snapshot.devices)};
  }
  Report pass(Pass what = Pass::scheduled) {
    runner_->ask(what);
    runner_->wait(monotonic_now() + 30s);
    auto report = this->report();
    for (const auto &event : report.events) kinds_.push_back(std::string(word(event.kind)) + " " + event.device);
    return report;
  }
  // Requests passes until the report is as wanted; false after ten seconds.
  template <class Wanted>
  bool until(Wanted wanted) {
    for (const auto end = monotonic_now() + 10s; monotonic_now() < end; std::this_thread::sleep_for(2ms)) {
      if (wanted(pass())) return true;
    }
    return false;
  }
  bool closes_within(std::chrono::nanoseconds time) {
    for (const auto end = monotonic_now() + time; monotonic_now() < end; std::this_thread::sleep_for(2ms)) {
      if (runner_->try_close()) return true;
    }
    return false;
  }
  static const Device *find(const Report &report, const std::string &uuid) {
    for (const auto &entity : report.shown) {
      if (entity.identity->uuid == uuid) return &entity;
    }
    return nullptr;
  }
  static DeviceState state(const Report &report, const std::string &uuid) {
    const auto *entity = find(report, uuid);
    EXPECT_NE(entity, nullptr) << uuid;
    return entity != nullptr ? entity->state : DeviceState::lost;
  }
  static Reading reading(const Report &report, const std::string &uuid, MetricId id = Fake::kUtilization) {
    const auto *entity = find(report, uuid);
    EXPECT_NE(entity, nullptr) << uuid;
    return entity != nullptr ? entity->row[id] : Reading();
  }

  std::shared_ptr<Fake> source_ = std::make_shared<Fake>();
  SourceReport report_;
  std::unique_ptr<Runner> runner_;
  std::vector<std::string> kinds_;
};

TEST_F(RunnerTest, ReadsEachTierWhenDue) {
  start({{"GPU-0"}, {"GPU-1"}});
  for (int i = 0; i < 5; ++i) pass();
  EXPECT_EQ(source_->reads("GPU-0", Fake::kTick), 5U);
  EXPECT_EQ(source_->reads("GPU-1", Fake::kTick), 5U);
  EXPECT_EQ(source_->reads("GPU-0", Fake::kSlow), 1U);
  EXPECT_EQ(source_->reads("GPU-0", Fake::kOnce), 1U);
  const auto report = pass(Pass::everything);
  EXPECT_EQ(source_->reads("GPU-0", Fake::kSlow), 2U);
  for (std::size_t reader = 0; reader < Fake::kReaders; ++reader) {
    EXPECT_EQ(reading(report, "GPU-1", Fake::kMetricOf[reader]), Reading(10.0 + static_cast<double>(reader)));
  }
  EXPECT_EQ(reading(report, "GPU-0", device_metric("fan_speed_rpm")), Reading(Reason::not_supported));
  EXPECT_EQ(report.status.devices, 2U);
  EXPECT_EQ(report.calls, 8U);
}

TEST_F(RunnerTest, SecondReadersRunAtMostOnceASecond) {
  start({{"GPU-0"}});
  const auto begun = monotonic_now();
  for (int i = 0; i < 200; ++i) pass();
  const auto took = Seconds(monotonic_now() - begun).count();
  EXPECT_EQ(source_->reads("GPU-0", Fake::kTick), 200U);
  EXPECT_LE(static_cast<double>(source_->reads("GPU-0", Fake::kSecond)), 1 + took / 0.95);
}

TEST_F(RunnerTest, ARefusalIsRememberedPerDevice) {
  start({{"GPU-0"}, {"GPU-1"}});
  source_->answer("GPU-0", Fake::kTick, Outcome::unsupported);
  for (int i = 0; i < 3; ++i) pass(Pass::everything);
  const auto report = pass(Pass::everything);
  EXPECT_EQ(source_->reads("GPU-0", Fake::kTick), 1U);
  EXPECT_EQ(source_->reads("GPU-1", Fake::kTick), 4U);
  EXPECT_EQ(reading(report, "GPU-0"), Reading(Reason::not_supported));
}

TEST_F(RunnerTest, ARefusalIsForgottenWhenTheDeviceIsFoundAgain) {
  start({{"GPU-0"}});
  source_->answer("GPU-0", Fake::kTick, Outcome::unsupported);
  EXPECT_EQ(reading(pass(), "GPU-0"), Reading(Reason::not_supported));
  source_->answer("GPU-0", Fake::kTick, Outcome::ok);
  EXPECT_EQ(reading(pass(), "GPU-0"), Reading(Reason::not_supported));
  source_->devices({{"GPU-0"}, {"GPU-1"}});
  EXPECT_EQ(reading(pass(), "GPU-0"), Reading(0.0));
}

TEST_F(RunnerTest, ADearCallMovesToASlowerTier) {
  start({{"GPU-0"}});
  source_->cost(Fake::kTick, 5ms);  // of 100 ms between two samples: more than 2 %
  std::uint32_t slowed = 0;
  for (int i = 0; i < 10; ++i) slowed = pass().slowed;
  EXPECT_EQ(slowed, 1U);
  EXPECT_EQ(source_->reads("GPU-0", Fake::kTick), 4U);
  const auto costs = runner_->costs();
  EXPECT_EQ(costs[Fake::kTick].tier, Tier::second);
  EXPECT_GE(costs[Fake::kTick].mean, 5ms);
  EXPECT_GE(costs[Fake::kTick].total, 4 * 5ms);
  EXPECT_FALSE(costs[Fake::kSecond].slowed);
}

TEST_F(RunnerTest, WhatNobodyLooksAtIsReadSeldomUntilSomebodyDoes) {
  auto options = quick();
  options.tick = 2s;  // what takes 1 ms, or 20 on a busy machine, is neither nearly free nor too dear
  start({{"GPU-0"}}, options);
  source_->cost(Fake::kTick, 1ms);
  runner_->focus(std::make_shared<const MetricSet>(MetricSet{Fake::kEnergy}));
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(source_->reads("GPU-0", Fake::kTick), 4U) << "until its cost is known";
  EXPECT_EQ(reading(pass(), "GPU-0"), Reading(Fake::value_of("GPU-0", Fake::kTick))) << "the last one stands";
  runner_->focus(std::make_shared<const MetricSet>(MetricSet{Fake::kUtilization}));
  pass();
  EXPECT_EQ(source_->reads("GPU-0", Fake::kTick), 5U);
}

TEST_F(RunnerTest, AHungDeviceIsSetAsideAndComesBack) {
  start({{"GPU-0"}, {"GPU-1"}, {"GPU-2"}});
  pass();
  source_->hang("GPU-1");
  auto report = pass(Pass::everything);
  EXPECT_EQ(state(report, "GPU-1"), DeviceState::not_responding);
  EXPECT_EQ(reading(report, "GPU-1"), Reading(Reason::not_responding));
  EXPECT_GT(find(report, "GPU-1")->state_for, Seconds(0.15));
  for (const auto *uuid : {"GPU-0", "GPU-2"}) {
    EXPECT_EQ(state(report, uuid), DeviceState::ok);
    EXPECT_EQ(reading(report, uuid), Reading(Fake::value_of(uuid, 0)));
  }
  // The others continue at full speed on another thread.
  const auto before = source_->reads("GPU-2", Fake::kTick);
  for (int i = 0; i < 5; ++i) report = pass();
  EXPECT_EQ(source_->reads("GPU-2", Fake::kTick), before + 5);
  EXPECT_EQ(state(report, "GPU-1"), DeviceState::not_responding);
  source_->release();
  EXPECT_TRUE(until([](const Report &r) { return state(r, "GPU-1") == DeviceState::ok; }));
  EXPECT_EQ(reading(pass(), "GPU-1"), Reading(10.0));
  EXPECT_THAT(kinds_, Contains("not responding GPU-1"));
  EXPECT_THAT(kinds_, Contains("back GPU-1"));
}

TEST_F(RunnerTest, SeveralDevicesMayHang) {
  start({{"GPU-0"}, {"GPU-1"}, {"GPU-2"}});
  source_->hang("GPU-0");
  source_->hang("GPU-2");
  const auto report = pass();
  EXPECT_EQ(state(report, "GPU-0"), DeviceState::not_responding);
  EXPECT_EQ(reading(report, "GPU-1"), Reading(10.0));
  EXPECT_EQ(state(report, "GPU-2"), DeviceState::not_responding);
  source_->release();
  EXPECT_TRUE(until(
      [](const Report &r) { return state(r, "GPU-0") == DeviceState::ok && state(r, "GPU-2") == DeviceState::ok; }));
}

TEST_F(RunnerTest, NothingIsLookedForWhileACallHangs) {
  start({{"GPU-0"}, {"GPU-1"}});
  pass();
  source_->hang("GPU-0");
  pass();
  const auto before = source_->discoveries();
  source_->devices({{"GPU-0"}, {"GPU-1"}, {"GPU-2"}});
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(source_->discoveries(), before);
  source_->release();
  EXPECT_TRUE(until([](const Report &r) { return r.shown.size() == 3; }));
}

TEST_F(RunnerTest, APromptSourceIsReadByWhoAsks) {
  source_->be_prompt();
  start({{"gpu-1"}});
  runner_->ask(Pass::scheduled);
  EXPECT_EQ(source_->reader_thread(), std::this_thread::get_id());
  EXPECT_TRUE(runner_->wait(monotonic_now()));
  EXPECT_EQ(reading(report(), "gpu-1"), Reading(Fake::value_of("gpu-1", Fake::kTick)));
}

TEST_F(RunnerTest, APromptSourceThatThrowsEndsNothing) {
  source_->be_prompt();
  start({{"gpu-1"}});
  pass();
  source_->fail_next_read();
  EXPECT_THAT(pass().status.problem, HasSubstr("a bug"));
  EXPECT_TRUE(until([](const auto &report) { return report.status.problem.empty(); }));
}

TEST_F(RunnerTest, ADriverIsNeverCalledByWhoAsks) {
  start({{"gpu-1"}});
  pass();
  EXPECT_NE(source_->reader_thread(), std::this_thread::get_id());
}

TEST_F(RunnerTest, WithoutADeviceOnlyADriverThatAnswersIsLeftToTheWorker) {
  start({});
  pass();
  pass();
  EXPECT_EQ(source_->changed_thread(), std::this_thread::get_id());
  source_->driver("580");
  start({});
  pass();
  pass();
  EXPECT_NE(source_->changed_thread(), std::this_thread::get_id());
}

TEST_F(RunnerTest, WhereNothingWasFoundTheFirstDeviceIsSeen) {
  start({});
  pass();
  pass();
  EXPECT_EQ(source_->discoveries(), 1U) << "nothing changed";
  source_->devices({{"gpu-1"}});
  EXPECT_EQ(state(pass(), "gpu-1"), DeviceState::ok);
}

// A machine that counts its events in a file of the test's.
class RunnerWithEvents : public RunnerTest {
 protected:
  void start_with_events(std::vector<Fake::FakeDevice> devices) {
    source_->devices(std::move(devices));
    runner_ =
        std::make_unique<Runner>(source_, nullptr, quick(), std::make_shared<sysfs::DeviceEvents>(machine_.root()));
    pass();
  }
  void count_events(std::string_view number) { machine_.write("/sys/kernel/uevent_seqnum", number); }
  void pass_for(std::chrono::nanoseconds time) {
    for (const auto end = monotonic_now() + time; monotonic_now() < end; std::this_thread::sleep_for(2ms)) pass();
  }

  TemporaryFolder machine_;
};

TEST_F(RunnerWithEvents, ASourceWithoutDevicesLooksOnlyAfterAnEvent) {
  count_events("100\n");
  start_with_events({});
  const auto before = source_->checks();
  EXPECT_EQ(before.full, 0U) << "it has just looked";
  pass_for(60ms);
  EXPECT_EQ(source_->checks().full, before.full);
  EXPECT_EQ(source_->checks().without_event, 0U);
  source_->devices({{"gpu-1"}});
  count_events("101\n");
  EXPECT_TRUE(until([](const Report &r) { return find(r, "gpu-1") != nullptr; }));
}

TEST_F(RunnerWithEvents, WithoutTheKernelsNumberEveryCheckLooks) {
  start_with_events({});
  const auto before = source_->checks().full;
  pass_for(60ms);
  EXPECT_GT(source_->checks().full, before + 2);
  source_->devices({{"gpu-1"}});
  EXPECT_NE(find(pass(), "gpu-1"), nullptr);
}

TEST_F(RunnerWithEvents, WhereTheNumberIsLostEveryCheckLooksAgain) {
  count_events("100\n");
  start_with_events({});
  machine_.remove("/sys/kernel/uevent_seqnum");
  source_->devices({{"gpu-1"}});
  EXPECT_TRUE(until([](const Report &r) { return find(r, "gpu-1") != nullptr; }));
}

TEST_F(RunnerWithEvents, DevicesAreAskedForWhatChangesWithoutAnEvent) {
  count_events("100\n");
  start_with_events({{"gpu-1"}});
  pass_for(60ms);
  EXPECT_EQ(source_->checks().full, 0U);
  EXPECT_GT(source_->checks().without_event, 2U);
  // It has fallen asleep, say.
  source_->devices({{.uuid = "gpu-1", .state = DeviceState::asleep}});
  EXPECT_EQ(state(pass(), "gpu-1"), DeviceState::asleep);
  count_events("101\n");
  pass_for(60ms);
  EXPECT_EQ(source_->checks().full, 1U);
}

TEST_F(RunnerTest, AnIdleWorkerIsNeverTakenForHung) {
  start({{"GPU-0"}});
  pass();
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(200ms);  // longer than the deadline of a call
    EXPECT_EQ(state(pass(), "GPU-0"), DeviceState::ok);
  }
}

TEST_F(RunnerTest, ADiscoveryThatHangsIsTold) {
  start({{"GPU-0"}});
  pass();
  source_->hang(Fake::kEverything);
  source_->devices({{"GPU-0"}, {"GPU-1"}});
  const auto report = pass();
  EXPECT_THAT(report.status.problem, HasSubstr("not responding"));
  EXPECT_EQ(state(report, "GPU-0"), DeviceState::not_responding);
  const auto begun = monotonic_now();
  pass();
  EXPECT_LT(monotonic_now() - begun, 250ms);  // nobody waits for it twice
  source_->release();
  EXPECT_TRUE(until([](const Report &r) {
    return r.shown.size() == 2 && r.status.problem.empty() && state(r, "GPU-0") == DeviceState::ok;
  }));
}

TEST_F(RunnerTest, ADeviceThatHangsWhileItIsIdentifiedIsSetAside) {
  source_->identify_each();
  source_->hang("identify GPU-1");
  start({{"GPU-0"}, {"GPU-1"}, {"GPU-2"}});
  auto report = pass();
  ASSERT_EQ(report.shown.size(), 3U);
  EXPECT_EQ(state(report, "GPU-1"), DeviceState::not_responding);
  EXPECT_EQ(reading(report, "GPU-0"), Reading(0.0));
  EXPECT_EQ(reading(report, "GPU-2"), Reading(20.0));
  source_->release();
  EXPECT_TRUE(until([](const Report &r) { return state(r, "GPU-1") == DeviceState::ok; }));
  EXPECT_EQ(reading(pass(), "GPU-1"), Reading(10.0));
  EXPECT_THAT(kinds_, Contains("not responding GPU-1"));
  EXPECT_THAT(kinds_, Contains("back GPU-1"));
  EXPECT_THAT(kinds_, testing::Not(Contains("found GPU-1"))) << "it was there from the start";
}

TEST_F(RunnerTest, ADeviceThatHangsWhenItIsFoundAgainIsStillTheSame) {
  source_->identify_each();
  start({{"GPU-0"}, {"GPU-1"}});
  pass();
  source_->hang("identify GPU-1");
  source_->devices({{"GPU-0"}, {"GPU-1"}, {"GPU-2"}});
  auto report = pass();
  ASSERT_EQ(report.shown.size(), 3U);
  EXPECT_EQ(state(report, "GPU-1"), DeviceState::not_responding);
  EXPECT_EQ(reading(report, "GPU-0"), Reading(0.0));
  source_->release();
  EXPECT_TRUE(until([](const Report &r) { return state(r, "GPU-1") == DeviceState::ok; }));
  report = pass();
  ASSERT_EQ(report.shown.size(), 3U);
  EXPECT_EQ(reading(report, "GPU-1"), Reading(10.0));
}

// The driver counts them by index, and an index may belong to another device after one has gone.
TEST_F(RunnerTest, AKnownDeviceIsRecognisedUnderAnotherIndex) {
  source_->identify_each();
  start({{"GPU-0"}, {"GPU-1"}});
  pass();
  source_->rename("GPU-0", "GPU-1");
  source_->devices({{"GPU-0"}});
  const auto report = pass();
  ASSERT_EQ(report.shown.size(), 2U);
  EXPECT_EQ(state(report, "GPU-1"), DeviceState::ok);
  EXPECT_EQ(state(report, "GPU-0"), DeviceState::lost);
}

// As on a machine without persistence mode: as long as the driver makes progress, nobody is given up.
TEST_F(RunnerTest, DevicesThatAreAttachedOneAfterTheOtherDoNotHang) {
  auto options = quick();
  options.call_deadline = 400ms;
  source_->identify_each(150ms);
  start({{"GPU-0"}, {"GPU-1"}, {"GPU-2"}, {"GPU-3"}, {"GPU-4"}, {"GPU-5"}}, options);
  const auto report = pass();
  for (const auto &entity : report.shown) EXPECT_EQ(entity.state, DeviceState::ok);
  EXPECT_THAT(kinds_, testing::IsEmpty());
}

TEST_F(RunnerTest, ManyHungDevicesTakeNoLongerThanOne) {
  std::vector<Fake::FakeDevice> devices;
  for (int i = 0; i < 200; ++i) devices.push_back({"GPU-" + std::to_string(100 + i)});
  for (const auto &device : devices) source_->hang(device.uuid);
  auto options = quick();
  options.call_deadline = 400ms;
  start(devices, options);
  const auto begun = monotonic_now();
  const auto report = pass();
  EXPECT_LT(monotonic_now() - begun, 4s) << "one after the other they would take 80 s";
  for (const auto &entity : report.shown) EXPECT_EQ(entity.state, DeviceState::not_responding);
}

// A device that is only slow must not keep the others from being read, nor show its last readings as new.
TEST_F(RunnerTest, WhileACallHangsTheOthersAreReadInEverySample) {
  auto options = quick();
  options.call_deadline = 30s;
  start({{"GPU-0"}, {"GPU-1"}, {"GPU-2"}}, options);
  pass();
  source_->hang("GPU-1");
  for (int i = 0; i < 3; ++i) {
    const auto before = source_->reads("GPU-2", Fake::kTick);
    runner_->ask(Pass::scheduled);
    runner_->wait(monotonic_now() + 300ms);
    const auto report = this->report();
    EXPECT_EQ(source_->reads("GPU-2", Fake::kTick), before + 1);
    EXPECT_EQ(reading(report, "GPU-2"), Reading(20.0));
    EXPECT_EQ(reading(report, "GPU-1"), Reading(Reason::not_responding));
    EXPECT_EQ(state(report, "GPU-1"), DeviceState::not_responding);
    EXPECT_GT(find(report, "GPU-1")->state_for, Seconds(0.2));
    EXPECT_TRUE(report.events.empty()) << "it is not given up yet";
  }
  source_->release();
  EXPECT_TRUE(until([](const Report &r) { return state(r, "GPU-1") == DeviceState::ok; }));
}

// The source has something to end first; its devices are read meanwhile.
TEST_F(RunnerTest, DiscoveryWaitsForTheSourceAndNobodyElseDoes) {
  start({{"GPU-0"}});
  pass();
  source_->be_unready(true);
  source_->devices({{"GPU-0"}, {"GPU-1"}});
  for (int i = 0; i < 3; ++i) {
    const auto report = pass();
    EXPECT_EQ(report.shown.size(), 1U);
    EXPECT_EQ(reading(report, "GPU-0"), Reading(0.0));
  }
  EXPECT_EQ(source_->discoveries(), 1U);
  source_->be_unready(false);
  EXPECT_EQ(pass().shown.size(), 2U);
}

TEST_F(RunnerTest, ASingleAnswerThatTheDriverIsGoneLosesNothing) {
  start({{"GPU-0"}});
  pass();
  source_->answer("GPU-0", Fake::kSecond, Outcome::gone);
  const auto report = pass(Pass::everything);
  EXPECT_EQ(state(report, "GPU-0"), DeviceState::ok);
  EXPECT_EQ(reading(report, "GPU-0"), Reading(0.0));
}

TEST_F(RunnerTest, WithoutADriverNoDeviceIsWell) {
  start({{"GPU-0"}});
  pass();
  for (std::size_t reader = 0; reader < Fake::kReaders; ++reader) source_->answer("GPU-0", reader, Outcome::gone);
  EXPECT_EQ(state(pass(Pass::everything), "GPU-0"), DeviceState::lost);
  for (std::size_t reader = 0; reader < Fake::kReaders; ++reader) source_->answer("GPU-0", reader, Outcome::ok);
  EXPECT_TRUE(until([](const Report &r) { return state(r, "GPU-0") == DeviceState::ok; }));
}

TEST_F(RunnerTest, ALostDeviceIsMarkedAndComesBack) {
  start({{"GPU-0"}, {"GPU-1"}});
  pass();
  source_->answer("GPU-0", Fake::kTick, Outcome::lost);
  source_->devices({{.uuid = "GPU-0", .state = DeviceState::lost}, {"GPU-1"}});
  auto report = pass();
  EXPECT_EQ(state(report, "GPU-0"), DeviceState::lost);
  EXPECT_EQ(reading(report, "GPU-0", Fake::kErrors), Reading(Reason::lost));
  EXPECT_EQ(reading(report, "GPU-1"), Reading(10.0));
  source_->answer("GPU-0", Fake::kTick, Outcome::ok);
  source_->devices({{"GPU-0"}, {"GPU-1"}});
  EXPECT_TRUE(until([](const Report &r) { return state(r, "GPU-0") == DeviceState::ok; }));
  EXPECT_EQ(reading(pass(), "GPU-0"), Reading(0.0));
  EXPECT_THAT(kinds_, Contains("lost GPU-0"));
  EXPECT_THAT(kinds_, Contains("back GPU-0"));
}

TEST_F(RunnerTest, ADeviceThatVanishesIsKeptAsLost) {
  start({{"GPU-0"}, {"GPU-1"}});
  pass();
  source_->devices({{"GPU-1"}});
  const auto report = pass();
  ASSERT_EQ(report.shown.size(), 2U);
  EXPECT_EQ(state(report, "GPU-0"), DeviceState::lost);
  EXPECT_EQ(reading(report, "GPU-1"), Reading(10.0));
}

TEST_F(RunnerTest, ANewDeviceIsFoundWhileRunning) {
  start({{"GPU-0"}});
  pass();
  source_->devices({{"GPU-0"}, {"GPU-1"}});
  EXPECT_EQ(reading(pass(), "GPU-1"), Reading(10.0));
  EXPECT_THAT(kinds_, Contains("found GPU-1"));
}

TEST_F(RunnerTest, ADeviceThatFellAsleepIsLeftAlone) {
  start({{"GPU-0"}, {"GPU-1"}});
  pass();
  source_->answer("GPU-0", Fake::kTick, Outcome::asleep);
  const auto second_before = source_->reads("GPU-0", Fake::kSecond);
  auto report = pass(Pass::everything);
  EXPECT_EQ(state(report, "GPU-0"), DeviceState::asleep);
  EXPECT_EQ(reading(report, "GPU-0"), Reading(Reason::asleep));
  EXPECT_EQ(source_->reads("GPU-0", Fake::kSecond), second_before);
  EXPECT_EQ(reading(report, "GPU-1"), Reading(10.0));
  const auto ticks = source_->reads("GPU-0", Fake::kTick);
  pass(Pass::everything);
  EXPECT_EQ(source_->reads("GPU-0", Fake::kTick), ticks);
  source_->answer("GPU-0", Fake::kTick, Outcome::ok);
  source_->devices({{"GPU-0"}, {"GPU-1"}});
  EXPECT_EQ(reading(pass(), "GPU-0"), Reading(0.0));
}

TEST_F(RunnerTest, AnInstanceTakenApartIsForgotten) {
  start({{"GPU-0"}, {.uuid = "MIG-1", .parent = "GPU-0"}});
  EXPECT_EQ(pass().shown.size(), 2U);
  source_->devices({{"GPU-0"}});
  const auto report = pass();
  ASSERT_EQ(report.shown.size(), 1U);
  EXPECT_TRUE(report.status.problem.empty());
}

TEST_F(RunnerTest, ADeviceFoundUnderItsProperNameLeavesNoGhost) {
  start({{.uuid = "PCI-0", .pci = "0000:01:00.0", .state = DeviceState::asleep},
         {.uuid = "INDEX-1", .state = DeviceState::lost},
         {.uuid = "PCI-2", .pci = "0000:03:00.0"}});
  EXPECT_EQ(reading(pass(), "PCI-0"), Reading(Reason::asleep));
  source_->devices({{.uuid = "GPU-0", .pci = "0000:01:00.0"},
                    {.uuid = "GPU-1", .pci = "0000:02:00.0"},
                    {.uuid = "GPU-2", .pci = "0000:03:00.0"}});
  const auto report = pass();
  ASSERT_EQ(report.shown.size(), 3U);
  for (const auto *uuid : {"GPU-0", "GPU-1", "GPU-2"}) EXPECT_EQ(state(report, uuid), DeviceState::ok);
}

TEST_F(RunnerTest, AFailureIsTriedAgainEverMoreSlowly) {
  auto options = quick();
  options.retry = 20ms;
  source_->devices({}, "no driver");
  runner_ = std::make_unique<Runner>(source_, nullptr, options);
  const auto begun = monotonic_now();
  while (monotonic_now() - begun < 500ms) {
    EXPECT_EQ(pass().status.problem, "no driver");
    std::this_thread::sleep_for(1ms);
  }
  // At 0, 20, 60, 140 and 300 ms, and next at 620 ms; `check` does not add any, since nothing has changed.
  EXPECT_GE(source_->discoveries(), 3U);
  EXPECT_LE(source_->discoveries(), 5U);
}

TEST_F(RunnerTest, AfterATimeOfHealthTheNextFailureIsTriedAgainSoon) {
  auto options = quick();
  options.retry = 30ms;
  options.check = 1h;  // only failures are looked into
  source_->devices({}, "no driver");
  runner_ = std::make_unique<Runner>(source_, nullptr, options);
  // Waits grow to 30, 60, 120 and 240 ms.
  while (source_->discoveries() < 4) pass();
  source_->devices({{"GPU-0"}});
  EXPECT_TRUE(until([](const Report &r) { return r.status.problem.empty(); }));
  for (const auto end = monotonic_now() + 600ms; monotonic_now() < end; std::this_thread::sleep_for(2ms)) pass();
  source_->answer("GPU-0", Fake::kTick, Outcome::lost);
  const auto before = source_->discoveries();
  pass();
  const auto failed = monotonic_now();
  while (source_->discoveries() == before && monotonic_now() - failed < 5s) pass();
  EXPECT_LT(monotonic_now() - failed, 200ms);
}

// A fault of the bus, say, takes them all at once.
TEST_F(RunnerTest, ManyDevicesLostAtOnceAreOneFailure) {
  auto options = quick();
  options.retry = 20ms;
  options.check = 1h;
  std::vector<Fake::FakeDevice> devices;
  for (int i = 0; i < 10; ++i) devices.push_back({"GPU-" + std::to_string(i)});
  start(devices, options);
  pass();
  for (const auto &device : devices) source_->answer(device.uuid, Fake::kTick, Outcome::lost);
  pass();
  const auto failed = monotonic_now();
  while (source_->discoveries() < 2 && monotonic_now() - failed < 15s) pass();
  EXPECT_LT(monotonic_now() - failed, 2s) << "as ten failures it would be 10 s";
}

// The driver hands out the device each time and then says that it is lost; the others must not pay for that for ever.
TEST_F(RunnerTest, ADeviceLostAfterEachDiscoveryIsTriedEverMoreSlowly) {
  auto options = quick();
  options.retry = 20ms;
  start({{"GPU-0"}, {"GPU-1"}}, options);
  source_->answer("GPU-0", Fake::kTick, Outcome::lost);
  const auto begun = monotonic_now();
  while (monotonic_now() - begun < 500ms) {
    EXPECT_EQ(state(pass(), "GPU-1"), DeviceState::ok);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_GE(source_->discoveries(), 3U);
  EXPECT_LE(source_->discoveries(), 6U);
}

TEST_F(RunnerTest, ADriverThatGoesAwayIsLookedForAgain) {
  start({{"GPU-0"}});
  pass();
  source_->answer("GPU-0", Fake::kTick, Outcome::gone);
  EXPECT_THAT(pass().status.problem, HasSubstr("went away"));
  source_->answer("GPU-0", Fake::kTick, Outcome::ok);
  const auto before = source_->discoveries();
  EXPECT_TRUE(until([](const Report &r) { return r.status.problem.empty(); }));
  EXPECT_GT(source_->discoveries(), before);
  EXPECT_EQ(state(pass(), "GPU-0"), DeviceState::ok);
}

TEST_F(RunnerTest, AnExceptionInASourceEndsNothing) {
  start({{"GPU-0"}});
  pass();
  source_->fail_next_read();
  EXPECT_THAT(pass().status.problem, HasSubstr("a bug"));
  EXPECT_TRUE(until([](const Report &r) { return r.status.problem.empty(); }));
  EXPECT_EQ(reading(pass(), "GPU-0"), Reading(0.0));
}

TEST_F(RunnerTest, TheEndDoesNotWaitForAHungCall) {
  start({{"GPU-0"}, {"GPU-1"}});
  source_->hang("GPU-1");
  runner_->ask(Pass::everything);
  std::this_thread::sleep_for(20ms);
  const auto begun = monotonic_now();
  runner_.reset();
  EXPECT_LT(monotonic_now() - begun, 1s);
}

TEST_F(RunnerTest, ASourceIsLetGoOfWithoutWaitingForIt) {
  start({{"GPU-0"}});
  pass();
  EXPECT_GT(source_.use_count(), 1);
  EXPECT_TRUE(closes_within(10s));
  EXPECT_EQ(source_.use_count(), 1);
  EXPECT_TRUE(runner_->try_close()) << "and stays so";
}

TEST_F(RunnerTest, ASourceInWhichACallHangsIsNotLetGoOf) {
  start({{"GPU-0"}, {"GPU-1"}});
  pass();
  source_->hang("GPU-1");
  ASSERT_TRUE(until([&](const Report &r) { return state(r, "GPU-1") == DeviceState::not_responding; }));
  EXPECT_FALSE(closes_within(100ms));
  EXPECT_GT(source_.use_count(), 1);
}

TEST_F(RunnerTest, EventsOfTheSourceAreHandedOnOnce) {
  start({{"GPU-0"}});
  source_->happen({.time = wall_now(), .device = "GPU-0", .kind = EventKind::xid, .code = 79, .text = "off the bus"});
  const auto report = pass();
  ASSERT_EQ(report.events.size(), 1U);
  EXPECT_EQ(report.events[0].code, 79);
  EXPECT_TRUE(pass().events.empty());
}

}  // namespace
}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// From samples to the numbers that rules look at: which samples count, and whose.
#include "insight/signals.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "insight/diagnose.hpp"

namespace gpulse::insight {
namespace {

using std::chrono_literals::operator""s;

struct Moment {
  double active = 95;  // percent of the time
  std::vector<std::uint32_t> pids{560};
  double cpu = 100;
  double age = 1000;  // of the processes, in seconds
};

SnapshotPtr sample_at(int second, const Moment &moment, bool tells = true) {
  auto sample = std::make_shared<Snapshot>();
  sample->time = WallTime(1'800'000'000s) + std::chrono::seconds(second);
  Device device;
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = "GPU-1";
  device.identity = identity;
  device.row.fill(Reason::not_supported);
  device.row[device_metric("gpu_utilization_percent")] = moment.active;
  if (tells) {
    device.row[device_metric("graphics_active_percent")] = moment.active;
    device.row[device_metric("sm_active_percent")] = moment.active * 0.9;
  }
  device.row[device_metric("memory_used_bytes")] = 10e9;
  device.row[device_metric("memory_total_bytes")] = 80e9;
  device.row[device_metric("process_count")] = static_cast<double>(moment.pids.size());
  sample->devices.push_back(std::move(device));
  for (const auto pid : moment.pids) {
    Process process;
    process.pid = pid;
    process.types = static_cast<std::uint8_t>(ProcessType::compute);
    process.row.fill(Reason::not_supported);
    process.row[process_metric("cpu_percent")] = moment.cpu;
    process.row[process_metric("running_seconds")] = moment.age;
    process.row[process_metric("gpu_memory_bytes")] = 9e9;
    sample->processes.push_back(std::move(process));
  }
  return sample;
}

std::vector<SnapshotPtr> samples_of(int seconds, const std::function<Moment(int)> &moment) {
  std::vector<SnapshotPtr> samples;
  for (int second = 0; second < seconds; ++second) samples.push_back(sample_at(second, moment(second)));
  return samples;
}

DeviceSignals only(const std::vector<SnapshotPtr> &samples) {
  const auto all = measure(samples);
  EXPECT_EQ(all.size(), 1U);
  return all.front();
}

TEST(Signals, MeansOverTheStretch) {
  const auto signals = only(samples_of(21, [](int second) { return Moment{.active = second % 2 == 0 ? 80.0 : 40.0}; }));
  EXPECT_EQ(signals.seconds, 20);
  EXPECT_EQ(signals.samples, 21U);
  EXPECT_NEAR(*signals.active, (11 * 80.0 + 10 * 40.0) / 21, 1e-9);
  EXPECT_NEAR(*signals.fill(), 0.9, 1e-9);
  EXPECT_FALSE(signals.tensor) << "what nobody tells is not nothing";
}

TEST(Signals, TheStartOfAJobDoesNotCount) {
  const auto signals =
      only(samples_of(30, [](int second) { return Moment{.active = second < 12 ? 0.0 : 95.0, .age = 3.0 + second}; }));
  EXPECT_EQ(signals.seconds, 17);
  EXPECT_EQ(*signals.active, 95);
  EXPECT_FALSE(signals.starting);
}

TEST(Signals, WarmingUpIsPartOfTheStart) {
  const auto signals =
      only(samples_of(30, [](int second) { return Moment{.active = second < 12 ? 3.0 : 95.0, .age = 3.0 + second}; }));
  EXPECT_EQ(*signals.active, 95);
}

TEST(Signals, TheFirstTouchOfAGpuIsNotTheBeginOfWork) {
  const auto touches = [](int second) { return second == 2 ? 100.0 : second < 12 ? 0.0 : 95.0; };
  const auto signals =
      only(samples_of(30, [&](int second) { return Moment{.active = touches(second), .age = 3.0 + second}; }));
  EXPECT_EQ(signals.seconds, 17);
  EXPECT_EQ(*signals.active, 95);
}

TEST(Signals, WorkThatComesNowAndThenBeginsWithTheFirst) {
  const auto signals = only(samples_of(30, [](int second) {
    return Moment{.active = second >= 4 && second % 5 == 4 ? 20.0 : 0.0, .age = 3.0 + second};
  }));
  EXPECT_EQ(signals.seconds, 25);
}

TEST(Signals, AProcessThatEndsComputesOnceMore) {
  const auto signals = only(samples_of(30, [](int second) {
    return Moment{.active = second < 5 ? 95.0 : 0.0, .cpu = second == 29 ? 72.0 : second < 5 ? 100.0 : 0.0};
  }));
  EXPECT_EQ(*signals.active, 0) << "it has done nothing for 25 s";
}

TEST(Signals, AnOldJobIsJudgedByAllOfIt) {
  const auto signals = only(samples_of(30, [](int second) { return Moment{.active = second < 12 ? 3.0 : 95.0}; }));
  EXPECT_EQ(signals.samples, 30U);
}

TEST(Signals, AJobThatHasOnlyBegunIsStarting) {
  const auto loads = samples_of(20, [](int second) { return Moment{.active = 0, .age = 3.0 + second}; });
  EXPECT_TRUE(only(loads).starting);
  EXPECT_EQ(diagnose(loads).verdict, FindingId::unknown);
  const auto warm =
      samples_of(20, [](int second) { return Moment{.active = second < 17 ? 0.0 : 95.0, .age = 3.0 + second}; });
  EXPECT_TRUE(only(warm).starting);
}

TEST(Signals, TwoJobsAreNotMixed) {
  const auto samples = samples_of(30, [](int second) {
    return second < 15 ? Moment{.active = 2, .pids = {1}} : Moment{.active = 95, .pids = {2}};
  });
  const auto signals = only(samples);
  ASSERT_EQ(signals.jobs.size(), 1U);
  EXPECT_EQ(signals.jobs[0].pid, 2U);
  EXPECT_EQ(*signals.active, 95);
}

TEST(Signals, OneThatHasOnlyJustComeDoesNotHideTheOneBefore) {
  const auto samples = samples_of(
      30, [](int second) { return second < 29 ? Moment{.active = 95, .pids = {1}} : Moment{.active = 0, .pids = {}}; });
  EXPECT_EQ(only(samples).jobs[0].pid, 1U);
}

TEST(Signals, OnesThatLeaveOneAfterTheOtherAreJudgedTogether) {
  const auto samples = samples_of(30, [](int second) {
    if (second == 29) return Moment{.active = 0, .pids = {}};
    return second == 28 ? Moment{.active = 44, .pids = {2}} : Moment{.active = 95, .pids = {1, 2}};
  });
  EXPECT_EQ(only(samples).pids(), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(diagnose(samples).verdict, FindingId::healthy);
}

TEST(Signals, WhatWasBeforeAJobStoppedSaysNothingOfWhy) {
  const auto samples =
      samples_of(40, [](int second) { return second < 20 ? Moment{} : Moment{.active = 0, .cpu = 0}; });
  EXPECT_EQ(*only(samples).active, 0);
  EXPECT_EQ(diagnose(samples).verdict, FindingId::hung);
  // It computes: it may go on.
  const auto computes = samples_of(40, [](int second) { return second < 20 ? Moment{} : Moment{.active = 0}; });
  EXPECT_NEAR(*only(computes).active, 47.5, 1e-9);
}

TEST(Signals, InstancesStandForTheirGpu) {
  auto samples = samples_of(10, [](int) { return Moment{}; });
  for (auto &sample : samples) {
    auto split = std::make_shared<Snapshot>(*sample);
    auto instance = split->devices.front();
    instance.id.instance = 1;
    split->devices.push_back(instance);
    sample = split;
  }
  const auto all = measure(samples);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(text(all[0].id), "0:1");
}

TEST(Diagnose, NoSamplesNoVerdict) {
  const auto diagnosis = diagnose({});
  EXPECT_EQ(diagnosis.verdict, FindingId::unknown);
  EXPECT_TRUE(diagnosis.findings.empty());
}

TEST(Diagnose, OneFindingForAllGpusOfAJob) {
  std::vector<SnapshotPtr> samples;
  for (int second = 0; second < 20; ++second) {
    auto sample = std::make_shared<Snapshot>(*sample_at(second, {.active = 20}));
    auto other = sample->devices.front();
    auto process = sample->processes.front();
    other.id.index = process.device.index = 1;
    sample->devices.push_back(other);
    sample->processes.push_back(process);  // one process on both
    samples.push_back(sample);
  }
  const auto diagnosis = diagnose(samples);
  ASSERT_EQ(diagnosis.verdict, FindingId::input_cpu);
  ASSERT_EQ(diagnosis.findings.front().devices.size(), 2U);
  EXPECT_NEAR(*diagnosis.findings.front().lost_share, 0.8, 1e-9);
}

}  // namespace
}  // namespace gpulse::insight

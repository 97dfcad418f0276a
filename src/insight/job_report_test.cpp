// SPDX-License-Identifier: Apache-2.0
#include "insight/job_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::insight {
namespace {

using namespace std::chrono_literals;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr WallTime kBegin{1'800'000'000s};
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr std::uint32_t kJob = 100, kOther = 7;

class AJob : public ::testing::Test {
 protected:
  struct State {
    double utilization = 0, activity = 0, watts = 100, used = kGiB;
    std::vector<std::pair<std::uint32_t, double>> held{};  // by pid
  };
  // One GPU at a time after the start; energy grows by the watts.
  Snapshot sample(std::chrono::milliseconds at, const State &state) {
    joules_ += state.watts * Seconds(at - last_).count();
    last_ = at;
    Snapshot snapshot;
    snapshot.time = kBegin + at;
    Device device;
    auto identity = std::make_shared<DeviceIdentity>();
    identity->uuid = "GPU-0";
    device.identity = identity;
    device.row[device_metric("gpu_utilization_percent")] = state.utilization;
    device.row[device_metric("sm_active_percent")] = state.activity;
    device.row[device_metric("power_draw_watts")] = state.watts;
    if (has_counter_) device.row[device_metric("energy_joules")] = joules_;
    device.row[device_metric("memory_used_bytes")] = state.used;
    device.row[device_metric("memory_total_bytes")] = 80 * kGiB;
    snapshot.devices.push_back(device);
    for (const auto &[pid, bytes] : state.held) {
      Process process;
      process.pid = pid;
      process.row[process_metric("gpu_memory_bytes")] = bytes;
      snapshot.processes.push_back(process);
    }
    return snapshot;
  }
  void add(std::chrono::milliseconds at, const State &state, std::optional<JobUse> use = {}) {
    reporter_.add(sample(at, state), [](const Process &process) { return process.pid == kJob; }, use);
  }

  JobReporter reporter_{kBegin, 1s};
  bool has_counter_ = true;
  double joules_ = 5000;
  std::chrono::milliseconds last_{0};
};

TEST_F(AJob, IsOnAGpuFromItsFirstToItsLastSampleThere) {
  add(1s, {});
  add(2s, {.held = {{kJob, kGiB}}});
  for (auto at = 3s; at <= 6s; at += 1s)
    add(at, {.utilization = 80, .activity = 55, .watts = 500, .used = 22 * kGiB, .held = {{kJob, 20 * kGiB}}});
  add(7s, {.watts = 100});
  const auto report = reporter_.report(kBegin + 6500ms, {});
  ASSERT_EQ(report.gpus.size(), 1U);
  const auto &gpu = report.gpus.front();
  EXPECT_FALSE(gpu.assumed);
  EXPECT_FALSE(gpu.shared);
  EXPECT_DOUBLE_EQ(gpu.seconds, 5);
  // 0, then four times 80 %.
  EXPECT_DOUBLE_EQ(gpu.utilization_percent.value(), 64);
  EXPECT_DOUBLE_EQ(gpu.busy_seconds.value(), 3.2);
  EXPECT_DOUBLE_EQ(gpu.activity_percent.value(), 44);
  EXPECT_THAT(gpu.activity_histogram, ElementsAre(1, 0, 0, 0, 0, 4, 0, 0, 0, 0));
  EXPECT_EQ(gpu.memory_bytes, Reading(20 * kGiB));
  EXPECT_EQ(gpu.device_memory_bytes, Reading(22 * kGiB));
  EXPECT_DOUBLE_EQ(gpu.power_watts.value(), 420);
  EXPECT_DOUBLE_EQ(report.seconds(), 6.5);
}

TEST_F(AJob, TakesTheEnergyThatTheGpuCounted) {
  add(1s, {});
  for (auto at = 2s; at <= 61s; at += 1s) add(at, {.utilization = 90, .watts = 600, .held = {{kJob, kGiB}}});
  add(62s, {});
  const auto energy = reporter_.report(kBegin + 62s, {}).energy();
  ASSERT_TRUE(energy);
  EXPECT_TRUE(energy->counted);
  // Surely from second 2 to 61, of which a count may be a second old; at most from second 1 to 62, and as old.
  EXPECT_DOUBLE_EQ(energy->least, 59 * 600 - 600);
  EXPECT_DOUBLE_EQ(energy->most, 60 * 600 + 100 + 100);
  EXPECT_LT(energy->least, energy->joules);
  EXPECT_GT(energy->most, energy->joules);
}

TEST_F(AJob, AddsUpThePowerWhereNothingIsCounted) {
  has_counter_ = false;
  add(1s, {});
  for (auto at = 2s; at <= 11s; at += 1s) add(at, {.utilization = 90, .watts = 600, .held = {{kJob, kGiB}}});
  add(12s, {.watts = 200});
  const auto energy = reporter_.report(kBegin + 12s, {}).energy();
  ASSERT_TRUE(energy);
  EXPECT_FALSE(energy->counted);
  EXPECT_DOUBLE_EQ(energy->least, 9 * 600);
  // The second in which it came, and that in which it went.
  EXPECT_DOUBLE_EQ(energy->most, 9 * 600 + 600 + 200);
}

TEST_F(AJob, AddsUpThePowerWhereTheCounterBeganAnew) {
  add(1s, {.held = {{kJob, kGiB}}});
  joules_ = 0;
  add(2s, {.held = {{kJob, kGiB}}});
  const auto energy = reporter_.report(kBegin + 2s, {}).energy();
  ASSERT_TRUE(energy);
  EXPECT_FALSE(energy->counted);
}

TEST_F(AJob, ThatUsesNoGpuHasNone) {
  add(1s, {.utilization = 99, .used = 11 * kGiB, .held = {{kOther, 10 * kGiB}}});
  // It has taken more, which the list of processes has a moment later.
  add(1500ms, {.utilization = 99, .used = 61 * kGiB, .held = {{kOther, 10 * kGiB}}});
  add(2s, {.utilization = 99, .used = 61 * kGiB, .held = {{kOther, 60 * kGiB}}});
  const auto report = reporter_.report(kBegin + 2s, {.code = 3});
  EXPECT_THAT(report.gpus, IsEmpty());
  EXPECT_THAT(report.phases, IsEmpty());
  EXPECT_TRUE(report.gpus_found);
  EXPECT_EQ(reporter_.part_of(sample(3s, {})), nullptr);
}

TEST_F(AJob, IsAssumedWhereMemoryIsTakenThatNoProcessAccountsFor) {
  add(1s, {});
  add(2s, {.used = kGiB + 1e6});
  add(3s, {.utilization = 50, .used = 9 * kGiB});
  add(4s, {.utilization = 50, .used = 9 * kGiB});
  const auto report = reporter_.report(kBegin + 4s, {});
  ASSERT_EQ(report.gpus.size(), 1U);
  EXPECT_TRUE(report.gpus.front().assumed);
  EXPECT_DOUBLE_EQ(report.gpus.front().seconds, 1);
  EXPECT_EQ(report.gpus.front().memory_bytes, Reading(8 * kGiB));
}

TEST_F(AJob, SharesItsGpu) {
  add(1s, {.utilization = 90, .held = {{kJob, kGiB}, {kOther, 3 * kGiB}}});
  add(2s, {.utilization = 90, .held = {{kJob, kGiB}}});
  const auto report = reporter_.report(kBegin + 2s, {});
  EXPECT_TRUE(report.gpus.front().shared);
  ASSERT_EQ(report.neighbours.size(), 1U);
  EXPECT_EQ(report.neighbours.front().pid, kOther);
  EXPECT_DOUBLE_EQ(report.neighbours.front().seconds, 1);
  EXPECT_EQ(report.neighbours.front().memory_bytes, Reading(3 * kGiB));
}

TEST_F(AJob, HasPhases) {
  for (auto at = 1s; at <= 10s; at += 1s) add(at, {.held = {{kJob, kGiB}}});
  for (auto at = 11s; at <= 50s; at += 1s) add(at, {.utilization = at == 20s ? 0.0 : 90.0, .held = {{kJob, kGiB}}});
  for (auto at = 51s; at <= 60s; at += 1s) add(at, {.held = {{kJob, kGiB}}});
  for (auto at = 61s; at <= 80s; at += 1s) add(at, {.utilization = 90, .held = {{kJob, kGiB}}});
  // The second without work in between is no phase.
  EXPECT_THAT(reporter_.report(kBegin + 80s, {}).phases,
              ElementsAre(JobPhase{PhaseKind::start_up, 0, 10}, JobPhase{PhaseKind::busy, 10, 50},
                          JobPhase{PhaseKind::stalled, 50, 60}, JobPhase{PhaseKind::busy, 60, 80}));
}

TEST_F(AJob, UsesTheHost) {
  add(1s, {},
      JobUse{.cpu_seconds = 3,
             .read_bytes = 1e6,
             .written_bytes = Reason::no_permission,
             .memory_bytes = 5e9,
             .processes = 4});
  add(2s, {});
  add(3s, {},
      JobUse{.cpu_seconds = 4,
             .read_bytes = 1e6,
             .written_bytes = Reason::no_permission,
             .memory_bytes = 2e9,
             .processes = 2});
  const auto report = reporter_.report(kBegin + 3s, {});
  EXPECT_EQ(report.memory_bytes, Reading(5e9));
  EXPECT_EQ(report.processes, 4U);
  EXPECT_TRUE(report.use.written_bytes.is(Reason::no_permission));
  EXPECT_TRUE(report.write_rate.empty());
  EXPECT_EQ(report.cores.at(0), 3);
  EXPECT_EQ(report.cores.at(1), 0.5);
  EXPECT_EQ(report.cores.at(2), 0.5);
}

TEST_F(AJob, LeavesOutTimeInWhichNobodyLooked) {
  add(1s, {.utilization = 50, .held = {{kJob, kGiB}}});
  add(101s, {.utilization = 50, .held = {{kJob, kGiB}}});
  add(50s, {.utilization = 0, .held = {{kJob, kGiB}}});
  const auto report = reporter_.report(kBegin + 101s, {});
  EXPECT_DOUBLE_EQ(report.unseen_seconds, 90);
  EXPECT_DOUBLE_EQ(report.gpus.front().seconds, 11);
  EXPECT_EQ(report.samples, 2U);
}

TEST(AJobCurve, StaysSmallForADay) {
  JobCurve mean, most(Fold::maximum);
  for (int i = 0; i < 86400; ++i) {
    for (auto *curve : {&mean, &most}) curve->add(i, i + 1, i < 43200 ? 10.0 : i == 50000 ? 100.0 : 30.0);
  }
  EXPECT_LE(mean.size(), kMostJobPoints);
  EXPECT_GE(mean.size(), kMostJobPoints / 2);
  EXPECT_DOUBLE_EQ(mean.step_seconds(), 256);
  EXPECT_DOUBLE_EQ(*mean.at(0), 10);
  EXPECT_DOUBLE_EQ(*mean.at(300), 30);
  EXPECT_DOUBLE_EQ(most.most(), 100);
  EXPECT_THAT(mean.most(), DoubleNear(30 + 70.0 / 256, 0.001));
}

TEST(AJobCurve, HasGapsWhereNothingIsKnown) {
  JobCurve curve;
  curve.add(0, 1, 5);
  curve.add(1, 2, Reason::not_supported);
  curve.add(2, 3.5, 7);
  EXPECT_EQ(curve.at(0), 5);
  EXPECT_EQ(curve.at(1), std::nullopt);
  EXPECT_EQ(curve.at(3), 7);
  EXPECT_EQ(curve.at(4), std::nullopt);
}

}  // namespace
}  // namespace gpulse::insight

// SPDX-License-Identifier: Apache-2.0
#include "insight/watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::insight {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using std::chrono_literals::operator""s;

constexpr std::uint32_t kSpinning = 560, kTraining = 561;

// One GPU with one process: one of its processors spins, or all of them work.
SnapshotPtr sample_at(int second, std::uint32_t pid, bool lists_processes = true) {
  auto sample = std::make_shared<Snapshot>();
  sample->time = WallTime(1'800'000'000s) + std::chrono::seconds(second);
  Device device;
  const bool spins = pid == kSpinning;
  device.row[device_metric("gpu_utilization_percent")] = spins ? 94 : 99;
  device.row[device_metric("sm_active_percent")] = spins ? 0.7 : 85;
  device.row[device_metric("graphics_active_percent")] = 94;
  device.row[device_metric("tensor_active_percent")] = spins ? 0 : 45;
  device.row[device_metric("dram_active_percent")] = spins ? 0 : 30;
  device.row[device_metric("pcie_rx_bytes_per_second")] = spins ? 1e3 : 1e9;
  device.row[device_metric("pcie_tx_bytes_per_second")] = 1e3;
  device.row[device_metric("memory_total_bytes")] = 100e9;
  device.row[device_metric("memory_used_bytes")] = 60e9;
  if (lists_processes) device.row[device_metric("process_count")] = 1;
  sample->devices.push_back(std::move(device));
  if (lists_processes) {
    Process process;
    process.pid = pid;
    process.row[process_metric("gpu_memory_bytes")] = 60e9;
    process.row[process_metric("gpu_utilization_percent")] = 94;
    sample->processes.push_back(std::move(process));
  }
  return sample;
}

std::vector<FindingId> ids(const std::vector<LastingFinding> &all) {
  std::vector<FindingId> found;
  for (const auto &lasting : all) found.push_back(lasting.finding.id);
  return found;
}

TEST(Watch, AFindingBeginsWhenTwoJudgementsAgree) {
  Watch watch;
  for (int second = 0; second < 15; ++second) watch.add(sample_at(second, kSpinning));
  EXPECT_THAT(watch.current(), IsEmpty()) << "judged after ten seconds, and not again";
  watch.add(sample_at(15, kSpinning));
  EXPECT_THAT(ids(watch.current()), ElementsAre(FindingId::spinning));
}

TEST(Watch, AFindingEndsWithItsJobAndIsNotSaidOfTheNext) {
  Watch watch;
  for (int second = 0; second < 40; ++second) watch.add(sample_at(second, kSpinning));
  EXPECT_THAT(ids(watch.current()), ElementsAre(FindingId::spinning));
  watch.add(sample_at(40, kTraining));
  EXPECT_THAT(ids(watch.current()), ElementsAre(FindingId::spinning)) << "one sample without it may be a mistake";
  watch.add(sample_at(41, kTraining));
  for (int second = 42; second < 100; ++second) {
    watch.add(sample_at(second, kTraining));
    ASSERT_THAT(watch.current(), IsEmpty()) << second;
  }
  EXPECT_THAT(ids(watch.take_ended()), ElementsAre(FindingId::spinning));
}

TEST(Watch, WhatWasSeenOnceIsToldWhenItsJobLeaves) {
  Watch watch;
  for (int second = 0; second < 12; ++second) watch.add(sample_at(second, kSpinning));
  EXPECT_THAT(watch.current(), IsEmpty());
  watch.add(sample_at(12, kTraining));
  watch.add(sample_at(13, kTraining));
  EXPECT_THAT(ids(watch.current()), ElementsAre(FindingId::spinning));
  watch.add(sample_at(14, kTraining));
  EXPECT_THAT(watch.current(), IsEmpty());
  EXPECT_THAT(ids(watch.take_ended()), ElementsAre(FindingId::spinning));
}

// As one in another container, or one that has died and whose memory the driver still holds.
TEST(Watch, AProcessThatOnlyTheDriverKnowsIsThere) {
  Watch watch;
  for (int second = 0; second < 40; ++second) {
    auto sample = std::make_shared<Snapshot>(*sample_at(second, kSpinning));
    sample->processes[0].gone = true;
    watch.add(sample);
  }
  EXPECT_THAT(ids(watch.current()), ElementsAre(FindingId::spinning));
}

TEST(Watch, ADeviceThatDoesNotSayWhoIsOnItEndsNothing) {
  Watch watch;
  for (int second = 0; second < 40; ++second) watch.add(sample_at(second, kSpinning));
  for (int second = 40; second < 44; ++second) {
    watch.add(sample_at(second, kSpinning, false));
    ASSERT_THAT(ids(watch.current()), ElementsAre(FindingId::spinning));
  }
}

}  // namespace
}  // namespace gpulse::insight

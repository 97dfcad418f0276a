// SPDX-License-Identifier: Apache-2.0
#include "insight/last_seen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "insight/watch.hpp"

namespace gpulse::insight {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using std::chrono_literals::operator""s;

constexpr double kTotal = 100e9;

// A job whose memory, as a share of all, is what the function says; below 0: it is not there.
std::deque<SnapshotPtr> samples_of(int seconds, const std::function<double(int)> &share, double others = 0,
                                   const std::string &framework = "PyTorch") {
  std::deque<SnapshotPtr> samples;
  for (int second = 0; second < seconds; ++second) {
    auto sample = std::make_shared<Snapshot>();
    sample->time = WallTime(1'800'000'000s) + std::chrono::seconds(second);
    const double own = std::max(0.0, share(second));
    Device device;
    device.row[device_metric("memory_total_bytes")] = kTotal;
    device.row[device_metric("memory_used_bytes")] = (own + others) * kTotal;
    sample->devices.push_back(std::move(device));
    if (share(second) >= 0) {
      Process process;
      process.pid = 560;
      process.row[process_metric("gpu_memory_bytes")] = own * kTotal;
      auto texts = std::make_shared<TextRow>(Scope::process);
      (*texts)[process_metric("name")] = "train.py";
      (*texts)[process_metric("framework")] = framework;
      process.texts = texts;
      sample->processes.push_back(std::move(process));
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

TEST(LastSeen, AJobThatLeavesAFullGpuMayHaveRunOutOfMemory) {
  const auto found = left_full_devices(samples_of(20, [](int i) { return i < 19 ? 0.5 + 0.025 * i : -1; }, 0.03));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, FindingId::out_of_memory);
  EXPECT_EQ(found[0].weight, Weight::note) << "nobody has seen how it ended";
  EXPECT_TRUE(found[0].estimated);
  EXPECT_EQ(found[0].pids, std::vector{560U});
  // 0.5 + 0.025 * 18 is 95 % its own, and 3 % are others'.
  EXPECT_THAT(found[0].text,
              HasSubstr("train.py ended while 91.3 GiB of 93.1 GiB of GPU memory were in use, 88.5 GiB"));
  EXPECT_THAT(found[0].advice, testing::Not(IsEmpty()));
}

TEST(LastSeen, OthersAreNot) {
  EXPECT_THAT(left_full_devices(samples_of(20, [](int) { return 0.98; })), IsEmpty()) << "it is still there";
  EXPECT_THAT(left_full_devices(samples_of(20, [](int i) { return i < 19 ? 0.6 : -1; })), IsEmpty())
      << "there was room";
  const auto all_at_once = [](int i) { return i < 19 ? 0.98 : -1; };
  EXPECT_THAT(left_full_devices(samples_of(20, all_at_once, 0, "JAX")), IsEmpty());
  auto lost = samples_of(20, all_at_once);
  auto last = std::make_shared<Snapshot>(*lost.back());
  last->devices[0].state = DeviceState::lost;
  lost.back() = last;
  EXPECT_THAT(left_full_devices(lost), IsEmpty()) << "the GPU went, not the job";
}

TEST(LastSeen, IsToldAtOnceAndForAWhile) {
  Watch watch;
  int told = 0;
  for (const auto &sample : samples_of(140, [](int i) { return i < 15 ? 0.98 : -1; })) {
    watch.add(sample);
    for (const auto &lasting : watch.current()) told += lasting.finding.id == FindingId::out_of_memory ? 1 : 0;
  }
  EXPECT_GT(told, 50);
  EXPECT_LT(told, 70);
  const auto ended = watch.take_ended();
  EXPECT_EQ(std::ranges::count(ended, FindingId::out_of_memory,
                               [](const LastingFinding &lasting) { return lasting.finding.id; }),
            1);
}

}  // namespace
}  // namespace gpulse::insight

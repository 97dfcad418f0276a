// SPDX-License-Identifier: Apache-2.0
#include "insight/finding_events.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "insight/changes.hpp"

namespace gpulse::insight {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr WallTime kStart{std::chrono::seconds(1'800'000'000)};
constexpr double kGiB = 1024.0 * 1024 * 1024;

// A machine whose GPUs do nothing, with a job on those that are named which holds memory and waits.
Snapshot machine(std::uint32_t devices, std::initializer_list<std::uint32_t> held) {
  Snapshot snapshot;
  for (std::uint32_t i = 0; i < devices; ++i) {
    Device device;
    auto identity = std::make_shared<DeviceIdentity>();
    identity->uuid = fmt::format("GPU-{}", i);
    device.identity = std::move(identity);
    device.id.index = i;
    device.row[device_metric("gpu_utilization_percent")] = 0;
    device.row[device_metric("graphics_active_percent")] = 0;
    device.row[device_metric("sm_active_percent")] = 0;
    device.row[device_metric("memory_total_bytes")] = 140 * kGiB;
    device.row[device_metric("memory_used_bytes")] = 1 * kGiB;
    device.row[device_metric("process_count")] = 0;
    snapshot.devices.push_back(std::move(device));
  }
  for (const auto i : held) {
    Process process;
    process.pid = 560;
    process.device.index = i;
    process.types = static_cast<std::uint8_t>(ProcessType::compute);
    process.row[process_metric("gpu_memory_bytes")] = 30 * kGiB;
    process.row[process_metric("running_seconds")] = 3600;
    process.row[process_metric("cpu_percent")] = 0;
    snapshot.devices[i].row[device_metric("process_count")] = 1;
    snapshot.devices[i].row[device_metric("memory_used_bytes")] = 31 * kGiB;
    snapshot.processes.push_back(std::move(process));
  }
  return snapshot;
}

class FoundEvents : public ::testing::Test {
 protected:
  // A sample a second; what was told, as "20 finding GPU-0 hung".
  void watch(const Snapshot &as, int seconds) {
    for (int i = 0; i < seconds; ++i) {
      auto snapshot = std::make_shared<Snapshot>(as);
      snapshot->time = kStart + std::chrono::seconds(second_++);
      for (const auto &event : events_.judge(snapshot)) told_.push_back(event);
    }
  }

  int second_ = 0;
  FindingEvents events_;
  std::vector<Event> told_;
};

TEST_F(FoundEvents, AreToldOnceWhenAFindingBegins) {
  watch(machine(2, {1}), 120);
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_EQ(told_[0].kind, EventKind::finding);
  EXPECT_EQ(told_[0].device, "GPU-1");
  EXPECT_EQ(told_[0].code, 1);
  EXPECT_THAT(told_[0].text.str(), StartsWith("hung: The job holds 30.0 GiB"));
  EXPECT_GE(told_[0].time, kStart + 15s) << "ten seconds, and a second look five seconds later";
  EXPECT_LE(told_[0].time, kStart + 20s);
}

TEST_F(FoundEvents, AreToldOnceMoreWhenItIsOver) {
  watch(machine(2, {1}), 300);
  watch(machine(2, {}), 120);
  ASSERT_THAT(told_, SizeIs(2));
  EXPECT_EQ(told_[1].kind, EventKind::finding_ended);
  EXPECT_EQ(told_[1].device, "GPU-1");
  EXPECT_EQ(told_[1].code, told_[0].code);
  EXPECT_EQ(told_[1].text, "hung after 4 min");
  EXPECT_GE(told_[1].time, kStart + 300s);
  watch(machine(2, {1}), 60);
  ASSERT_THAT(told_, SizeIs(3));
  EXPECT_EQ(told_[2].code, 2) << "another one, though of the same kind";
}

TEST_F(FoundEvents, NameTheGpusWhereThereAreSeveral) {
  watch(machine(3, {0, 2}), 60);
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_EQ(told_[0].device, "");
  EXPECT_THAT(told_[0].text.str(), StartsWith("hung on GPU 0, 2: "));
}

TEST_F(FoundEvents, SayNothingWhereAllIsWell) {
  watch(machine(2, {}), 120);
  EXPECT_THAT(told_, IsEmpty());
}

Event event(EventKind kind, std::int64_t code) {
  return {.time = kStart, .device = "", .kind = kind, .code = code, .text = std::to_string(code)};
}

TEST(AddedEvents, LeaveTheSampleAloneWhereThereIsNothingToAdd) {
  AddedEvents added;
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->events = {event(EventKind::xid, 79)};
  const SnapshotPtr sample = snapshot;
  EXPECT_EQ(added.add(sample, {}), sample);
}

// As history and the live view find out what is new.
TEST(AddedEvents, AreEachNewInOneSampleOnly) {
  AddedEvents added;
  SnapshotPtr before = std::make_shared<Snapshot>();
  std::vector<std::int64_t> seen;
  SharedVector<Event> drivers;
  std::int64_t code = 0;
  for (int i = 0; i < 200; ++i) {
    if (i % 3 == 0) drivers.push_back(event(EventKind::xid, ++code));
    if (drivers.size() > 64) drivers = std::vector(drivers.begin() + 1, drivers.end());
    auto snapshot = std::make_shared<Snapshot>();
    // A recording has them in another vector each time.
    snapshot->events = i % 2 == 0 ? drivers : SharedVector<Event>(drivers.get());
    std::vector<Event> own;
    if (i % 5 == 0) own.push_back(event(EventKind::finding, ++code));
    const auto now = added.add(snapshot, std::move(own));
    for (const auto &each : changes(*before, *now)) seen.push_back(each.code);
    EXPECT_LE(now->events.size(), 64U);
    before = now;
  }
  std::vector<std::int64_t> all;
  for (std::int64_t i = 1; i <= code; ++i) all.push_back(i);
  EXPECT_EQ(seen, all);
}

}  // namespace
}  // namespace gpulse::insight

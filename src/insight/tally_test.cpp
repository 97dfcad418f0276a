// SPDX-License-Identifier: Apache-2.0
// Counters add up what samples say, and nothing for the time that no sample speaks of.
#include "insight/tally.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace gpulse::insight {
namespace {

using namespace std::chrono_literals;

constexpr auto kBegin = Monotonic(1000h);

Device device(std::uint32_t index, const std::string &uuid, double utilization) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = uuid;
  identity->vendor = "acme";
  Device made;
  made.id.index = index;
  made.identity = identity;
  made.row.fill(Reason::not_supported);
  made.row[device_metric("gpu_utilization_percent")] = utilization;
  return made;
}

Snapshot sample(double utilization, const std::string &uuid = "GPU-a") {
  Snapshot made;
  made.devices.push_back(device(0, uuid, utilization));
  return made;
}

template <class Ids>
std::size_t place(const Ids &ids, MetricId id) {
  const auto found = std::ranges::find(ids, id);
  EXPECT_NE(found, ids.end());
  return static_cast<std::size_t>(found - ids.begin());
}

const DeviceTally &of(const TallyReport &report, std::string_view uuid) {
  const auto found =
      std::ranges::find(report.devices, uuid, [](const auto &d) { return std::string_view(d.uuid.str()); });
  EXPECT_NE(found, report.devices.end()) << uuid;
  return *found;
}

Reading total(const Tally &tally, MetricId id, std::string_view uuid = "GPU-a") {
  return of(tally.report(), uuid).totals[place(totalled(), id)];
}
Reading peak(const Tally &tally, MetricId id, std::string_view uuid = "GPU-a") {
  return of(tally.report(), uuid).peaks[place(peaked(), id)];
}

constexpr auto kUtilization = device_metric("gpu_utilization_percent");
constexpr auto kPower = device_metric("power_draw_watts");

TEST(Tally, AShareAddsUpToSeconds) {
  Tally tally;
  tally.add(sample(80), 1s, kBegin);
  EXPECT_EQ(total(tally, kUtilization), Reading(0.0)) << "nobody knows of the time before";
  tally.add(sample(50), 1s, kBegin + 1s);
  tally.add(sample(100), 1s, kBegin + 3s);
  EXPECT_DOUBLE_EQ(total(tally, kUtilization).value(), 0.5 * 1 + 1.0 * 2);
}

TEST(Tally, ABurstBetweenTwoScrapesStaysInTheCounter) {
  Tally tally;
  for (int second = 0; second <= 120; ++second) {
    tally.add(sample(second > 70 && second <= 72 ? 100 : 0), 1s, kBegin + std::chrono::seconds(second));
    if (second == 60) {
      EXPECT_DOUBLE_EQ(total(tally, kUtilization).value(), 0);
    }
  }
  EXPECT_DOUBLE_EQ(total(tally, kUtilization).value(), 2);
  EXPECT_EQ(peak(tally, kUtilization), Reading(100.0)) << "48 seconds ago";
  tally.add(sample(0), 1s, kBegin + 138s);
  EXPECT_EQ(peak(tally, kUtilization), Reading(0.0)) << "66 seconds ago";
}

TEST(Tally, APeakIsSeenForAtLeastAMinute) {
  for (int offset = 0; offset < 5000; offset += 250) {
    const auto begin = kBegin + std::chrono::milliseconds(offset);
    Tally tally;
    tally.add(sample(90), 1s, begin);
    tally.add(sample(10), 1s, begin + 60s);
    EXPECT_EQ(peak(tally, kUtilization), Reading(90.0)) << offset;
    tally.add(sample(10), 1s, begin + 65s);
    EXPECT_EQ(peak(tally, kUtilization), Reading(10.0)) << offset;
  }
}

TEST(Tally, AGapAddsNothing) {
  Tally tally;
  tally.add(sample(100), 1s, kBegin);
  tally.add(sample(100), 1s, kBegin + 10s);  // stopped, or the machine slept
  EXPECT_EQ(total(tally, kUtilization), Reading(0.0));
  auto lost = sample(100);
  lost.devices[0].state = DeviceState::lost;
  lost.devices[0].row.fill(Reason::lost);
  tally.add(lost, 1s, kBegin + 11s);
  tally.add(sample(100), 1s, kBegin + 12s);
  EXPECT_EQ(total(tally, kUtilization), Reading(0.0)) << "it was lost at one end of each of the two seconds";
  tally.add(Snapshot{}, 1s, kBegin + 13s);
  tally.add(sample(100), 1s, kBegin + 14s);
  EXPECT_EQ(total(tally, kUtilization), Reading(0.0)) << "it was not there in between";
  auto silent = sample(0);
  silent.devices[0].row.fill(Reason::not_responding);
  tally.add(silent, 1s, kBegin + 15s);
  EXPECT_EQ(total(tally, kUtilization), Reading(0.0));
  tally.add(sample(100), 1s, kBegin + 16s);
  EXPECT_EQ(total(tally, kUtilization), Reading(1.0));
}

TEST(Tally, ADeviceThatIsLostDoesNotAnswerAndGoesOnWhereItWas) {
  Tally tally;
  tally.add(sample(100), 1s, kBegin);
  tally.add(sample(100), 1s, kBegin + 1s);
  EXPECT_TRUE(of(tally.report(), "GPU-a").answers);
  tally.add(Snapshot{}, 1s, kBegin + 2s);
  EXPECT_FALSE(of(tally.report(), "GPU-a").answers);
  tally.add(sample(100), 1s, kBegin + 3s);
  tally.add(sample(100), 1s, kBegin + 4s);
  EXPECT_EQ(total(tally, kUtilization), Reading(2.0));
}

TEST(Tally, TheUuidCountsNotThePlace) {
  Tally tally;
  Snapshot both;
  both.devices = {device(0, "GPU-a", 100), device(1, "GPU-b", 0)};
  Snapshot turned;
  turned.devices = {device(0, "GPU-b", 0), device(1, "GPU-a", 100)};
  tally.add(both, 1s, kBegin);
  tally.add(turned, 1s, kBegin + 1s);
  EXPECT_EQ(total(tally, kUtilization, "GPU-a"), Reading(1.0));
  EXPECT_EQ(total(tally, kUtilization, "GPU-b"), Reading(0.0));
  EXPECT_EQ(of(tally.report(), "GPU-a").id, (DeviceId{.index = 1}));
}

TEST(Tally, EnergyIsTheDriversWhereItCounts) {
  Tally tally;
  auto watts = sample(0);
  watts.devices[0].row[kPower] = 300;
  auto both = watts;
  both.devices[0] = device(1, "GPU-b", 0);
  both.devices[0].row[kPower] = 300;
  both.devices[0].row[device_metric("energy_joules")] = 1e9;
  watts.devices.push_back(both.devices[0]);
  auto later = watts;
  later.devices[1].row[device_metric("energy_joules")] = Reason::not_responding;
  auto refused = watts;
  refused.devices[1].row[device_metric("energy_joules")] = Reason::not_supported;
  tally.add(watts, 1s, kBegin);
  tally.add(watts, 1s, kBegin + 2s);
  tally.add(later, 1s, kBegin + 3s);
  tally.add(refused, 1s, kBegin + 4s);
  EXPECT_EQ(total(tally, kPower, "GPU-a"), Reading(1200.0));
  EXPECT_FALSE(total(tally, kPower, "GPU-b")) << "a count of its own never becomes another";
}

TEST(Tally, SecondsOfEachReason) {
  Tally tally;
  auto held = sample(100);
  held.devices[0].row[device_metric("throttle_reasons")] = 4 + 32;
  tally.add(held, 1s, kBegin);
  tally.add(held, 1s, kBegin + 1s);
  held.devices[0].row[device_metric("throttle_reasons")] = 32;
  tally.add(held, 1s, kBegin + 2500ms);
  const auto bits = of(tally.report(), "GPU-a").bits[place(totalled(), device_metric("throttle_reasons"))];
  EXPECT_EQ(bits.at(2), 1.0);
  EXPECT_EQ(bits.at(5), 2.5);
  EXPECT_EQ(bits.at(0), 0.0);
}

TEST(Tally, EachXidCountsOnce) {
  const auto at = [](int second) { return WallTime(std::chrono::seconds(second)); };
  const auto xid = [&](int second, int code) {
    return Event{.time = at(second), .device = "GPU-a", .kind = EventKind::xid, .code = code, .text = {}};
  };
  auto other = xid(2, 0);
  other.kind = EventKind::lost;
  Tally tally;
  auto now = sample(0);
  now.events = std::vector<Event>{xid(1, 31)};
  tally.add(now, 1s, kBegin);
  tally.add(now, 1s, kBegin + 1s);
  now.events = std::vector<Event>{xid(1, 31), xid(2, 31), other, xid(3, 79)};
  tally.add(now, 1s, kBegin + 2s);
  now.events = std::vector<Event>{xid(3, 79)};
  tally.add(now, 1s, kBegin + 3s);
  const auto xids = of(tally.report(), "GPU-a").xids;
  ASSERT_EQ(xids.size(), 2U);
  EXPECT_EQ(xids[0].code, 31);
  EXPECT_EQ(xids[0].count, 2U);
  EXPECT_EQ(xids[0].last, at(2));
  EXPECT_EQ(xids[1].code, 79);
  EXPECT_EQ(xids[1].count, 1U);
}

TEST(Tally, XidsHaveAnEnd) {
  Tally tally;
  std::vector<Event> events;
  for (int code = 1; code <= 200; ++code) {
    events.push_back({.time = WallTime(1s), .device = "GPU-a", .kind = EventKind::xid, .code = code, .text = {}});
  }
  auto now = sample(0);
  now.events = events;
  tally.add(now, 1s, kBegin);
  const auto xids = of(tally.report(), "GPU-a").xids;
  ASSERT_EQ(xids.size(), 65U);
  EXPECT_EQ(xids.back().code, kOtherXid);
  EXPECT_EQ(xids.back().count, 136U);
}

TEST(Tally, DevicesHaveAnEnd) {
  Tally tally;
  for (int i = 0; i < 3000; ++i) tally.add(sample(0, "GPU-" + std::to_string(i)), 1s, kBegin + std::chrono::seconds(i));
  EXPECT_EQ(tally.report().devices.size(), 1024U);
  EXPECT_TRUE(of(tally.report(), "GPU-2999").answers);
}

TEST(Tally, AFindingLosesItsShareOfTheTimeItLasts) {
  Tally tally;
  LastingFinding starved{.number = 1, .finding = {.id = FindingId::input_cpu, .weight = Weight::problem}};
  starved.finding.devices = {{.index = 0}};
  starved.finding.lost_share = 0.25;
  LastingFinding full{.number = 2, .finding = {.id = FindingId::host_memory, .weight = Weight::note}};
  tally.add(sample(50), 1s, kBegin);
  tally.set_findings(std::vector{starved, full});
  tally.add(sample(50), 1s, kBegin + 1s);
  tally.add(sample(50), 1s, kBegin + 3s);
  auto report = tally.report();
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0], (StandingFinding{FindingId::input_cpu, Weight::problem, "GPU-a"}));
  EXPECT_EQ(report.findings[1], (StandingFinding{FindingId::host_memory, Weight::note, ""}));
  EXPECT_EQ(of(report, "GPU-a").lost_seconds[static_cast<std::size_t>(FindingId::input_cpu)], Reading(0.75));
  tally.set_findings({});
  tally.add(sample(50), 1s, kBegin + 4s);
  report = tally.report();
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(of(report, "GPU-a").lost_seconds[static_cast<std::size_t>(FindingId::input_cpu)], Reading(0.75));
}

TEST(Tally, LatenessIsWhatSamplesComeLaterThanTheirInterval) {
  Tally tally;
  tally.add(sample(0), 1s, kBegin);
  tally.add(sample(0), 1s, kBegin + 1s);
  tally.add(sample(0), 1s, kBegin + 2250ms);
  tally.add(sample(0), 1s, kBegin + 3s);
  tally.add(sample(0), 100ms, kBegin + 4s);  // asked for at this rate only now
  tally.add(sample(0), 100ms, kBegin + 4600ms);
  const auto report = tally.report();
  EXPECT_EQ(report.pace.samples, 6U);
  EXPECT_DOUBLE_EQ(report.late_seconds, 0.75);
  EXPECT_DOUBLE_EQ(report.late_peak_seconds, 0.5);
  EXPECT_EQ(report.pace.interval, 100ms);
}

TEST(Tally, ASampleIsFreshForThreeIntervals) {
  Tally tally;
  EXPECT_FALSE(is_fresh(tally.pace(), kBegin));
  tally.add(sample(0), 10s, kBegin);
  EXPECT_TRUE(is_fresh(tally.pace(), kBegin + 30s));
  EXPECT_FALSE(is_fresh(tally.pace(), kBegin + 30001ms));
  tally.add(sample(0), 100ms, kBegin + 1s);
  EXPECT_TRUE(is_fresh(tally.pace(), kBegin + 4s)) << "a busy machine may hold a fast one up for a moment";
  EXPECT_FALSE(is_fresh(tally.pace(), kBegin + 4001ms));
}

TEST(Tally, ManyMayAskWhileItCounts) {
  Tally tally;
  std::jthread reader([&](const std::stop_token &stop) {
    double before = 0;
    while (!stop.stop_requested()) {
      const auto report = tally.report();
      if (report.devices.empty()) continue;
      const double now = report.devices.front().totals[place(totalled(), kUtilization)].value_or(0);
      EXPECT_GE(now, before);
      before = now;
    }
  });
  for (int i = 0; i <= 2000; ++i) tally.add(sample(100), 1s, kBegin + std::chrono::seconds(i));
  reader.request_stop();
  reader.join();
  EXPECT_EQ(total(tally, kUtilization), Reading(2000.0));
}

}  // namespace
}  // namespace gpulse::insight

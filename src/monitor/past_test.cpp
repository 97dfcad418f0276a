// SPDX-License-Identifier: Apache-2.0
#include "monitor/past.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "monitor/testing.hpp"

namespace gpulse::monitor {
namespace {

using namespace testing;

constexpr auto kMinute = 60s;
const MetricSet kMetrics{kPower, kMemoryUsed, host_metric("cpu_percent"), device_metric("serial")};

SamplePtr with_watts(std::chrono::nanoseconds at, const std::map<std::string, Reading> &watts) {
  std::vector<Device> devices;
  for (const auto &[uuid, reading] : watts) {
    devices.push_back(make_device(static_cast<std::uint32_t>(devices.size()), uuid));
    devices.back().row[kPower] = reading;
  }
  return make_sample(at, std::move(devices));
}

const Column &column(const Table &table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  if (found == table.columns.end()) throw std::runtime_error("no column " + std::string(name));
  return *found;
}
std::vector<double> watts(const Table &table) {
  return std::get<Numbers>(column(table, "power_draw_watts").data).values;
}
std::vector<std::string> uuids(const Table &table) { return std::get<Strings>(column(table, "uuid").data).values; }
using Doubles = std::vector<double>;

TEST(Past, HasARowPerSampleAndDevice) {
  Past past(kMinute, kMetrics);
  past.add(*with_watts(1s, {{"A", 100.0}, {"B", 200.0}}));
  past.add(*with_watts(2s, {{"A", 110.0}, {"B", 210.0}}));
  const auto table = past.table({});
  EXPECT_EQ(table.rows, 4U);
  EXPECT_EQ(watts(table), (Doubles{100, 200, 110, 210}));
  EXPECT_EQ(uuids(table), (std::vector<std::string>{"A", "B", "A", "B"}));
  EXPECT_EQ(std::get<Times>(column(table, "time").data).values[3], 2'000'000'000);
  // A text is no number.
  EXPECT_EQ(std::ranges::count(table.columns, "serial", &Column::name), 0);
}

TEST(Past, ForgetsWhatIsOlderThanAsked) {
  Past past(10s, kMetrics);
  for (int i = 1; i <= 100; ++i) past.add(*with_watts(i * 1s, {{"A", i * 1.0}}));
  const auto all = watts(past.table({}));
  EXPECT_EQ(all.size(), 11U);
  EXPECT_EQ(all.front(), 90);
}

TEST(Past, KeepsNothingIfAskedTo) {
  Past past(0s, kMetrics);
  past.add(*with_watts(1s, {{"A", 1.0}}));
  EXPECT_EQ(past.table({}).rows, 0U);
}

TEST(Past, NeverTakesMoreThan64MiB) {
  Past past(7 * 24h, MetricSet::all());
  std::vector<Device> devices;
  for (std::uint32_t i = 0; i < 64; ++i) devices.push_back(make_device(i, "GPU-" + std::to_string(i)));
  // Each of them takes more than 8 bytes per device and metric: 64 MiB are full long before the last.
  const auto moment_bytes = 64 * 100 * sizeof(Reading);
  const auto count = static_cast<int>((64U << 20U) / moment_bytes) + 200;
  for (int i = 1; i <= count; ++i) past.add(*make_sample(i * 1s, devices));
  const auto rows = past.table({.scope = Scope::host}).rows;
  EXPECT_LT(rows, static_cast<std::size_t>(count) - 199);
  EXPECT_GT(rows, 100U);
}

TEST(Past, AReasonIsNoNumber) {
  Past past(kMinute, kMetrics);
  past.add(*with_watts(1s, {{"A", Reason::asleep}}));
  past.add(*with_watts(2s, {{"A", 7.0}}));
  const auto table = past.table({});
  const auto &numbers = std::get<Numbers>(column(table, "power_draw_watts").data);
  EXPECT_TRUE(std::isnan(numbers.values[0]));
  EXPECT_EQ(numbers.values[1], 7);
  EXPECT_EQ(numbers.validity.missing(), 1U);
  EXPECT_EQ(numbers.validity.data()[0], 0b10);
}

TEST(Past, StretchesOfTimeFold) {
  Past past(kMinute, kMetrics);
  // The mean of what is there: 100, 300, and one that could not be read.
  past.add(*with_watts(10s, {{"A", 100.0}}));
  past.add(*with_watts(11s, {{"A", 300.0}}));
  past.add(*with_watts(12s, {{"A", Reason::lost}}));
  past.add(*with_watts(15s, {{"A", 50.0}}));
  const auto table = past.table({.every = 5s});
  EXPECT_EQ(watts(table), (Doubles{200, 50}));
  EXPECT_EQ(std::get<Times>(column(table, "time").data).values,
            (std::vector<std::int64_t>{10'000'000'000, 15'000'000'000}));
}

TEST(Past, DevicesComeAndGo) {
  Past past(kMinute, kMetrics);
  past.add(*with_watts(1s, {{"A", 1.0}, {"B", 2.0}}));
  past.add(*with_watts(2s, {{"B", 3.0}}));
  past.add(*with_watts(3s, {}));
  past.add(*with_watts(4s, {{"A", 4.0}, {"B", 5.0}}));
  EXPECT_EQ(watts(past.table({})), (Doubles{1, 2, 3, 4, 5}));
  EXPECT_EQ(watts(past.table({.uuids = {"B"}})), (Doubles{2, 3, 5}));
  EXPECT_EQ(past.table({.uuids = {"C"}}).rows, 0U);
  EXPECT_EQ(past.table({.scope = Scope::host}).rows, 4U);
  // By stretch, each device has its own row.
  EXPECT_EQ(watts(past.table({.every = 100s})), (Doubles{2.5, 10.0 / 3}));
}

TEST(Past, CanBeCutByTime) {
  Past past(kMinute, kMetrics);
  for (int i = 1; i <= 9; ++i) past.add(*with_watts(i * 1s, {{"A", i * 1.0}}));
  EXPECT_EQ(watts(past.table({.since = WallTime(4s), .until = WallTime(6s)})), (Doubles{4, 5, 6}));
  EXPECT_EQ(past.table({.since = WallTime(6s), .until = WallTime(4s)}).rows, 0U);
}

TEST(Past, CarriesTheStep) {
  Past past(kMinute, kMetrics);
  past.add(*with_watts(1s, {{"A", 1.0}}));
  auto sample = std::make_unique<Sample>();
  sample->snapshot = with_watts(2s, {{"A", 1.0}})->snapshot;
  sample->ids = {"0"};
  sample->at = Monotonic(2s);
  sample->step = 77;
  past.add(*SamplePtr(sample.release()));
  const auto table = past.table({});
  const auto &steps = std::get<Integers>(column(table, "step").data);
  EXPECT_EQ(steps.values[1], 77);
  EXPECT_EQ(steps.validity.data()[0], 0b10);
}

}  // namespace
}  // namespace gpulse::monitor

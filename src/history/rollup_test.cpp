// SPDX-License-Identifier: Apache-2.0
// Every row of every tier against sums by hand over the samples, with gaps, restarts, resets of counters and devices
// that are lost.
#include "history/rollup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "base/temporary_folder.hpp"
#include "history/testing.hpp"

namespace gpulse::history {
namespace {

using testing::append;
using testing::at;
using testing::kStart;
using testing::make_device;
using testing::make_process;
using testing::open_store;

struct Seen {
  std::int64_t second = 0;
  bool is_there = false;
  std::optional<double> use, energy, power;
  std::optional<std::uint64_t> reasons;
};

struct ByHand {
  double seconds = 0;
  std::vector<double> use, power;
  std::optional<double> growth;
  std::optional<std::uint64_t> reasons;
};

std::map<std::int64_t, ByHand> sum_by_hand(const std::vector<Seen> &all, std::int64_t step) {
  std::map<std::int64_t, ByHand> rows;
  std::optional<double> energy;
  std::int64_t energy_at = 0;
  for (const auto &seen : all) {
    if (!seen.is_there) continue;
    auto &row = rows[seen.second / step * step];
    row.seconds += 1;
    if (seen.use) row.use.push_back(*seen.use);
    if (seen.power) row.power.push_back(*seen.power);
    if (seen.reasons) row.reasons = row.reasons.value_or(0) | *seen.reasons;
    if (!seen.energy) continue;
    if (energy && seen.second - energy_at <= 5)
      row.growth = row.growth.value_or(0) + (*seen.energy > *energy ? *seen.energy - *energy : 0);
    energy = seen.energy;
    energy_at = seen.second;
  }
  return rows;
}

void expect_rows(Database &database, const std::string &table, const std::map<std::int64_t, ByHand> &by_hand,
                 std::int64_t open) {
  auto rows = database.prepare(
      "SELECT time, seconds, gpu_utilization_percent, gpu_utilization_percent_min, gpu_utilization_percent_max, "
      "energy_joules, throttle_reasons, power_draw_watts, power_draw_watts_min, power_draw_watts_max, turn FROM " +
      table + " WHERE device=(SELECT id FROM device WHERE uuid='GPU-0') ORDER BY time");
  ASSERT_TRUE(rows.has_value()) << rows.error().line();
  std::size_t count = 0;
  while (rows->step().value_or(false)) {
    ++count;
    const auto time = rows->integer(0);
    SCOPED_TRACE(table + " at " + std::to_string(time));
    const auto hand = by_hand.find(time);
    ASSERT_NE(hand, by_hand.end());
    const auto &row = hand->second;
    EXPECT_EQ(rows->real(1), row.seconds);
    EXPECT_EQ(rows->integer(10), 0);
    const auto expect = [&](int column, const std::vector<double> &values) {
      ASSERT_EQ(rows->is_null(column), values.empty());
      if (values.empty()) return;
      double sum = 0;
      for (const auto value : values) sum += value;
      EXPECT_DOUBLE_EQ(rows->real(column), sum / static_cast<double>(values.size()));
      EXPECT_EQ(rows->real(column + 1), *std::ranges::min_element(values));
      EXPECT_EQ(rows->real(column + 2), *std::ranges::max_element(values));
    };
    expect(2, row.use);
    expect(7, row.power);
    ASSERT_EQ(rows->is_null(5), !row.growth.has_value());
    if (row.growth) {
      EXPECT_NEAR(rows->real(5), *row.growth, 1e-6);
    }
    ASSERT_EQ(rows->is_null(6), !row.reasons.has_value());
    if (row.reasons) {
      EXPECT_EQ(rows->real(6), static_cast<double>(*row.reasons));
    }
  }
  const auto ended = std::ranges::count_if(by_hand, [&](const auto &entry) { return entry.first < open; });
  EXPECT_EQ(count, static_cast<std::size_t>(ended)) << table;
}

class RollUps : public ::testing::TestWithParam<unsigned> {};

TEST_P(RollUps, AreTheSumsByHand) {
  std::mt19937 random(GetParam());
  const auto chance = [&](double share) { return std::uniform_real_distribution<>(0, 1)(random) < share; };
  const TemporaryFolder folder;
  const auto path = folder.path("/history.db");
  auto store = open_store(path);
  ASSERT_TRUE(store);
  std::vector<Seen> all;
  double energy = 1e6;
  std::int64_t second = kStart;
  int lost_for = 0;
  constexpr int kSamples = 1500;
  std::vector<TimedSample> batch;
  for (int i = 0; i < kSamples; ++i) {
    second += chance(0.01) ? std::uniform_int_distribution<>(2, 400)(random) : 1;
    energy = chance(0.005) ? 12.5 : energy + std::uniform_real_distribution<>(0, 700)(random);
    if (lost_for > 0) {
      --lost_for;
    } else if (chance(0.005)) {
      lost_for = std::uniform_int_distribution<>(1, 150)(random);
    }
    Seen seen;
    seen.second = second;
    seen.is_there = lost_for == 0;
    Snapshot now;
    now.time = at(static_cast<double>(second - kStart));
    now.host[host_metric("cpu_percent")] = 25;
    auto device = make_device(0);
    if (lost_for > 0) {
      device.state = DeviceState::lost;
      device.row.fill(Reason::lost);
    } else {
      if (!chance(0.1)) seen.use = static_cast<double>(random() % 101);
      if (!chance(0.05)) seen.power = std::uniform_real_distribution<>(70, 700)(random);
      if (!chance(0.02)) seen.energy = energy;
      if (!chance(0.5)) seen.reasons = random() % 512;
      if (seen.use) device.row[device_metric("gpu_utilization_percent")] = *seen.use;
      if (seen.power) device.row[device_metric("power_draw_watts")] = *seen.power;
      if (seen.energy) device.row[device_metric("energy_joules")] = *seen.energy;
      if (seen.reasons) device.row[device_metric("throttle_reasons")] = static_cast<double>(*seen.reasons);
    }
    now.devices = {device, make_device(1)};
    now.processes.push_back(make_process(7, 0, "ann", "python train.py"));
    all.push_back(seen);
    batch.push_back({std::make_shared<const Snapshot>(now), 1});
    if (!chance(0.1) && i + 1 < kSamples) continue;
    append(*store, batch);
    batch.clear();
    // As after a crash: what was open is found again in the samples.
    if (chance(0.2)) store = open_store(path);
    ASSERT_TRUE(store);
  }
  auto database = Database::open(path, Database::Mode::read);
  ASSERT_TRUE(database.has_value());
  expect_rows(*database, "device_10s", sum_by_hand(all, 10), second / 10 * 10);
  expect_rows(*database, "device_1min", sum_by_hand(all, 60), second / 60 * 60);
  EXPECT_EQ(database->integer("SELECT count(*) FROM process"), 1) << "one process, however often it was found again";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RollUps, ::testing::Values(1U, 2U, 3U, 4U));

TEST(Merging, WeighsMeansByTheirTime) {
  Merging merging(Fold::mean);
  merging.add({.value = 10, .least = 5, .greatest = 20}, 10);
  merging.add({}, 10);
  merging.add({.value = 40, .least = 30, .greatest = 90}, 20);
  const auto merged = merging.folded();
  EXPECT_DOUBLE_EQ(merged.value.value_or(0), (10.0 * 10 + 40.0 * 20) / 30);
  EXPECT_EQ(merged.least, 5);
  EXPECT_EQ(merged.greatest, 90);
}

TEST(Merging, AddsGrowthAndJoinsBits) {
  Merging growth(Fold::counter);
  Merging bits(Fold::any);
  for (const double value : {1.0, 4.0, 1.0}) {
    growth.add({.value = value, .least = value, .greatest = value}, 60);
    bits.add({.value = value, .least = value, .greatest = value}, 60);
  }
  EXPECT_EQ(growth.folded().value, 6);
  EXPECT_EQ(bits.folded().value, 5);
  EXPECT_EQ(Merging(Fold::last).folded().value, std::nullopt);
}

}  // namespace
}  // namespace gpulse::history

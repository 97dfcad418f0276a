// SPDX-License-Identifier: Apache-2.0
#include "history/store.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse::history {
namespace {

Snapshot sample(std::int64_t second, double use) {
  Snapshot now;
  now.time = WallTime(std::chrono::seconds(second));
  Device device;
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = "GPU-1";
  identity->name = "H200";
  device.identity = identity;
  device.row[device_metric("gpu_utilization_percent")] = use;
  now.devices.push_back(device);
  return now;
}

TEST(Store, KeepsWhatItIsGiven) {
  const TemporaryFolder folder;
  const auto path = folder.path() + "/history.db";
  auto store = Store::open(path, {});
  ASSERT_TRUE(store.has_value()) << store.error().error.line();
  for (int i = 0; i < 200; ++i) {
    const TimedSample one{std::make_shared<const Snapshot>(sample(1'700'000'000 + i, i % 10)), 1};
    const auto done = (*store)->append({&one, 1});
    ASSERT_TRUE(done.has_value()) << done.error().error.line();
  }
  auto reading = Database::open(path, Database::Mode::read);
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->integer("SELECT count(*) FROM raw_tail"), 80);
  EXPECT_EQ(reading->integer("SELECT gpu_utilization_percent*10 FROM device_10s LIMIT 1"), 45);
}

}  // namespace
}  // namespace gpulse::history

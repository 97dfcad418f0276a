// SPDX-License-Identifier: Apache-2.0
#include "insight/notices.hpp"

#include <gtest/gtest.h>

#include "metric/state_names.hpp"

namespace gpulse::insight {
namespace {

constexpr auto kThrottle = device_metric("throttle_reasons");

Device calm_device() {
  Device device;
  device.row.fill(Reason::not_supported);
  return device;
}

TEST(Notices, NothingIsKnownOrNothingIsWrong) {
  auto device = calm_device();
  EXPECT_TRUE(notices(device).empty());
  device.row[kThrottle] = static_cast<double>(state_names::throttle_bit("idle"));
  EXPECT_TRUE(notices(device).empty());
}

TEST(Notices, EachReasonThatHoldsItBackTheWorstFirst) {
  auto device = calm_device();
  constexpr auto kCap = state_names::throttle_bit("power cap"), kHeat = state_names::throttle_bit("hw thermal");
  device.row[kThrottle] = static_cast<double>(kCap | kHeat | state_names::throttle_bit("idle"));
  const auto found = notices(device);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, NoticeKind::held_back);
  EXPECT_EQ(found[0].severity, Severity::critical);
  EXPECT_EQ(found[0].value, static_cast<double>(kHeat));
  EXPECT_EQ(found[1].severity, Severity::warning);
  EXPECT_EQ(found[1].value, static_cast<double>(kCap));
  EXPECT_EQ(found[1].metric, kThrottle);
}

TEST(Notices, ThePowerLimitIsUsualForABusyDeviceAndHeatIsNot) {
  auto device = calm_device();
  constexpr auto kCap = state_names::throttle_bit("power cap"), kHeat = state_names::throttle_bit("sw thermal");
  device.row[kThrottle] = static_cast<double>(kCap | kHeat);
  device.row[device_metric("gpu_utilization_percent")] = 97.0;
  auto found = notices(device);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].value, static_cast<double>(kHeat));
  EXPECT_EQ(found[0].severity, Severity::critical);
  EXPECT_EQ(found[1].value, static_cast<double>(kCap));
  EXPECT_EQ(found[1].severity, Severity::note);
  device.row[device_metric("gpu_utilization_percent")] = 3.0;
  found = notices(device);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].severity, Severity::warning) << "an idle one should not be at its limit";
  // One that is divided into instances has no utilisation.
  device.row[device_metric("gpu_utilization_percent")] = Reason::not_supported;
  device.row[device_metric("sm_active_percent")] = 81.0;
  found = notices(device);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].severity, Severity::note);
  EXPECT_FALSE(seems_busier_than_it_is(device));
}

TEST(Notices, AReadingBeyondItsThreshold) {
  auto device = calm_device();
  constexpr auto kErrors = device_metric("ecc_uncorrected_volatile_total");
  device.row[kErrors] = 0.0;
  EXPECT_TRUE(notices(device).empty());
  device.row[kErrors] = 3.0;
  const auto found = notices(device);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, NoticeKind::beyond_threshold);
  EXPECT_EQ(found[0].metric, kErrors);
  EXPECT_EQ(found[0].value, 3.0);
}

TEST(Notices, BusyOnlyByName) {
  auto device = calm_device();
  auto &reported = device.row[device_metric("gpu_utilization_percent")];
  auto &active = device.row[device_metric("sm_active_percent")];
  EXPECT_FALSE(seems_busier_than_it_is(device));
  reported = 100.0;
  EXPECT_FALSE(seems_busier_than_it_is(device)) << "what it really does is not known";
  active = 1.0;
  EXPECT_TRUE(seems_busier_than_it_is(device));
  active = 50.0;
  EXPECT_FALSE(seems_busier_than_it_is(device));
  reported = 40.0;
  active = 1.0;
  EXPECT_FALSE(seems_busier_than_it_is(device)) << "it does not say that it is busy";
}

}  // namespace
}  // namespace gpulse::insight

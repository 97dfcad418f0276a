// SPDX-License-Identifier: Apache-2.0
// Building blocks for the tables of readers: calls that give one or two numbers, and the rows for them.
#pragma once

#include "source/nvml/reader_calls.hpp"
#include "source/nvml/readers.hpp"

namespace gpulse::nvml {

// One number from a call that takes only the device.
template <Api::Number Api::*Call, MetricId Id, double Scale = 1.0>
Outcome number(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint32_t value = 0;
  const auto code = (driver.api.get()->*Call)(device.handle, &value);
  return put(frame, Id, code, value * Scale);
}

// One number from a call that also takes a kind: which clock, which threshold.
template <Api::TypedNumber Api::*Call, std::uint32_t Type, MetricId Id>
Outcome typed(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint32_t value = 0;
  const auto code = (driver.api.get()->*Call)(device.handle, Type, &value);
  return put(frame, Id, code, static_cast<std::int32_t>(value));
}

// Two numbers from one call.
template <Api::Pair Api::*Call, MetricId First, MetricId Second, double Scale = 1.0>
Outcome pair(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  const auto code = (driver.api.get()->*Call)(device.handle, &first, &second);
  put(frame, First, code, first * Scale);
  return put(frame, Second, code, second * Scale);
}

// ECC errors of one kind in one part of the device.
template <std::uint32_t Type, std::uint32_t Counter, std::uint32_t Location, MetricId Id>
Outcome ecc_location(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint64_t errors = 0;
  const auto code = driver.api->ecc_location(device.handle, Type, Counter, Location, &errors);
  return put(frame, Id, code, static_cast<double>(errors));
}

inline constexpr std::uint32_t kCorrected = 0, kUncorrected = 1, kVolatile = 0, kAggregate = 1;
inline constexpr std::uint32_t kL1 = 0, kL2 = 1, kDram = 2, kRegisterFile = 3, kTexture = 4, kCbu = 6, kSram = 7;

// A row for a call that fills these metrics.
template <MetricId... Ids>
constexpr Reader row(std::string_view call, Tier tier,
                     Outcome (*read)(const Driver &, DeviceData &, Monotonic, Frame &)) {
  return {{.call = call, .tier = tier, .fills = kList<Ids...>}, read};
}

template <Api::Number Api::*Call, MetricId Id, double Scale = 1.0>
constexpr Reader simple(std::string_view call, Tier tier) {
  return row<Id>(call, tier, number<Call, Id, Scale>);
}

template <std::uint32_t Type, MetricId Id>
constexpr Reader threshold_row(std::string_view call) {
  return row<Id>(call, Tier::once, typed<&Api::temperature_threshold, Type, Id>);
}

template <std::uint32_t Type, std::uint32_t Counter, std::uint32_t Location, MetricId Id>
constexpr Reader ecc_location_row(std::string_view call) {
  return row<Id>(call, Tier::slow, ecc_location<Type, Counter, Location, Id>);
}

}  // namespace gpulse::nvml

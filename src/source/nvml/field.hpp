// SPDX-License-Identifier: Apache-2.0
// Readers of nvmlDeviceGetFieldValues: many numbered fields in one call.
#pragma once

#include "source/api/source.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

// Fields that cost next to nothing, and those that cost milliseconds.
Outcome read_fast_fields(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome read_slow_fields(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
// Details.
Outcome read_smoothing_fields(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome read_module_fields(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome read_pcie_fields(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
// Rates from byte counters, for devices that have no GPM.
Outcome read_link_counters(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
// The share of time in which clocks were throttled because of power or temperature.
Outcome read_throttle_shares(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

std::span<const MetricId> fast_field_metrics();
std::span<const MetricId> slow_field_metrics();
std::span<const MetricId> smoothing_field_metrics();
std::span<const MetricId> module_field_metrics();
std::span<const MetricId> pcie_field_metrics();
std::span<const MetricId> link_counter_metrics();
std::span<const MetricId> throttle_share_metrics();

}  // namespace gpulse::nvml

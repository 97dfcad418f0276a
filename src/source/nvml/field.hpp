// SPDX-License-Identifier: Apache-2.0
// Readings that come as numbered fields, many in one call.
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
// The share of time in which power or heat held the clocks down.
Outcome read_held_shares(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

std::span<const MetricId> fast_field_metrics();
std::span<const MetricId> slow_field_metrics();
std::span<const MetricId> smoothing_field_metrics();
std::span<const MetricId> module_field_metrics();
std::span<const MetricId> pcie_field_metrics();
std::span<const MetricId> link_counter_metrics();
std::span<const MetricId> held_share_metrics();

}  // namespace gpulse::nvml

// SPDX-License-Identifier: Apache-2.0
// The reads that take more than one plain call: fallbacks to older forms, several metrics at once, what the driver gets
// wrong. readers.cpp has the table they stand in.
#pragma once

#include <array>

#include "source/nvml/device.hpp"
#include "source/source.hpp"

namespace gpulse::nvml {

inline constexpr double kMilli = 1e-3;

// The metrics as a list that lives as long as the program.
template <MetricId... Ids>
inline constexpr std::array<MetricId, sizeof...(Ids)> kList{Ids...};

inline constexpr auto kMemoryMetrics =
    kList<device_metric("memory_used_bytes"), device_metric("memory_total_bytes"), device_metric("memory_free_bytes"),
          device_metric("memory_reserved_bytes")>;

// Puts the number, or the reason why there is none, and tells whether to ask again.
Outcome put(Row &row, MetricId id, Return code, double value);

Outcome utilization(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome memory(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome bar1(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome encoder_sessions(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome performance_state(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome throttle(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome energy(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome temperature(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome temperature_margin(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome fans(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome fan_rpm(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome pcie_max(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome nvlinks(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome ecc_sram(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome remapped_rows(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome remapped_banks(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome attributes(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome instance(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome gpm(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome power_peak(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome utilization_mean(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome xids(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome numa_node(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

}  // namespace gpulse::nvml

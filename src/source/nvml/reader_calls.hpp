// SPDX-License-Identifier: Apache-2.0
// Readers that need more than one plain call: fallbacks to older functions, several metrics at once, errors of the
// driver. The table is in readers.cpp.
#pragma once

#include <array>

#include "source/api/source.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

inline constexpr double kMilli = 1e-3;

// The metrics as a static array.
template <MetricId... Ids>
inline constexpr std::array<MetricId, sizeof...(Ids)> kList{Ids...};

inline constexpr auto kMemoryMetrics =
    kList<device_metric("memory_used_bytes"), device_metric("memory_total_bytes"), device_metric("memory_free_bytes"),
          device_metric("memory_reserved_bytes")>;

// The threshold is a device metric; the others are details.
inline constexpr auto kSramMetrics =
    kList<device_metric("ecc_sram_threshold_exceeded"), detail_metric("ecc_sram_parity_volatile_total"),
          detail_metric("ecc_sram_secded_volatile_total"), detail_metric("ecc_sram_parity_total"),
          detail_metric("ecc_sram_secded_total"), detail_metric("ecc_sram_in_l2_total"),
          detail_metric("ecc_sram_in_sm_total"), detail_metric("ecc_sram_in_mcu_total"),
          detail_metric("ecc_sram_in_pcie_total"), detail_metric("ecc_sram_in_other_total")>;

// Puts the number into the frame, or the reason why there is none. Details that nobody asks for are dropped.
Outcome put(Frame &frame, MetricId id, Return code, double value);

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
std::span<const MetricId> xid_metrics();
Outcome xids(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome numa_node(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

}  // namespace gpulse::nvml

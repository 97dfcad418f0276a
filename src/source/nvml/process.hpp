// SPDX-License-Identifier: Apache-2.0
// Which processes use a device, and how much of its engines each.
#pragma once

#include "source/api/source.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

// What a process list is read for: their number, their memory, and what the engines do for them.
std::span<const MetricId> process_metrics();
std::span<const MetricId> process_engine_metrics();

// Compute, graphics and MPS lists merged by pid into frame.processes.
Outcome read_processes(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

// Each process's share of the engines, since the newest sample seen before.
Outcome read_process_engines(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

}  // namespace gpulse::nvml

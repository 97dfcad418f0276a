// SPDX-License-Identifier: Apache-2.0
// Which processes use a device, and how busy each keeps its engines.
#pragma once

#include "source/api/source.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

// The metrics for which the process lists are read: count, memory, and use of the engines.
std::span<const MetricId> process_metrics();
std::span<const MetricId> process_engine_metrics();

// Merges the compute, graphics and MPS lists by pid into frame.processes.
Outcome read_processes(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

// Each process's share of the engines, from the driver's samples since the last call.
Outcome read_process_engines(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

}  // namespace gpulse::nvml

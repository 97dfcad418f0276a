// SPDX-License-Identifier: Apache-2.0
// The functions behind the table in readers.cpp.
#pragma once

#include "source/intel/readers.hpp"

namespace gpulse::intel {

// Fills the memory in use with the sum over the clients, if there is no better source.
void write_client_memory(const Device &device, const drm::ClientSums &sums, Row &row);

Outcome read_sleep(const Call &in);
Outcome read_clocks(const Call &in);
Outcome read_highest_clocks(const Call &in);
Outcome read_idle(const Call &in);
Outcome read_throttle(const Call &in);
Outcome read_energy(const Call &in);
Outcome read_power_limits(const Call &in);
Outcome read_sensors(const Call &in);
Outcome read_fixed_sensors(const Call &in);
Outcome read_fans(const Call &in);
Outcome read_clients(const Call &in);
Outcome scan_processes(const Call &in);
Outcome read_pmu_engines(const Call &in);
Outcome read_memory_size(const Call &in);
Outcome read_memory_by_driver(const Call &in);
Outcome read_link(const Call &in);
Outcome read_link_errors(const Call &in);
Outcome read_numa_node(const Call &in);
Outcome read_npu_use(const Call &in);
Outcome read_npu_memory(const Call &in);
Outcome read_npu_clock(const Call &in);

}  // namespace gpulse::intel

// SPDX-License-Identifier: Apache-2.0
// The functions behind the table in readers.cpp.
#pragma once

#include "source/amdgpu/readers.hpp"

namespace gpulse::amdgpu {

// Puts a reading that came from its own file into the row.
void put(const Context &in, MetricId id, const Reading &reading);

// Fills the metrics with the reason for a file's errno; Outcome::asleep if the device has just fallen asleep.
Outcome refuse(const Context &in, std::span<const MetricId> fills, int error);

Outcome read_sleep(const Context &in, const Reader &self);
Outcome read_number(const Context &in, const Reader &self);
Outcome read_numa_node(const Context &in, const Reader &self);
Outcome read_memory(const Context &in, const Reader &self);
Outcome read_power(const Context &in, const Reader &self);
Outcome read_fan(const Context &in, const Reader &self);
Outcome read_levels(const Context &in, const Reader &self);
Outcome read_table(const Context &in, const Reader &self);
Outcome read_partition(const Context &in, const Reader &self);
Outcome read_units(const Context &in, const Reader &self);
Outcome read_level(const Context &in, const Reader &self);
Outcome read_errors(const Context &in, const Reader &self);
Outcome read_link(const Context &in, const Reader &self);
Outcome read_link_errors(const Context &in, const Reader &self);
Outcome read_processes(const Context &in, const Reader &self);
Outcome scan_processes(const Context &in, const Reader &self);
Outcome read_bandwidth(const Context &in, const Reader &self);

}  // namespace gpulse::amdgpu

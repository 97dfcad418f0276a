// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi prints that is not a metric: the identity of a device, and the fields of list entries.
#pragma once

#include <cstdint>

namespace gpulse::smi {

enum class Fact : std::uint8_t {
  none,
  not_available,  // no public driver call returns it
  deprecated,     // the driver no longer supports it
  // Device
  name,
  uuid,
  bus_id,
  driver,
  index,
  pci_domain,
  pci_bus,
  pci_device,
  bar1_free,
  // MIG instance
  instance_index,
  instance_bar1_free,
  // Query
  timestamp,
  count,
  // Process
  pid,
  program,
  process_memory,
  // Accounted process
  accounted_gpu_use,
  accounted_memory_use,
  accounted_memory,
  accounted_time,
  // Retired page
  page_address,
  page_time,
  page_cause,
  // Supported clocks
  memory_clock,
  graphics_clock,
};

}  // namespace gpulse::smi

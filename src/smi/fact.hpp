// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi says that is no metric: who a device is, and the entries of its lists.
#pragma once

#include <cstdint>

namespace gpulse::smi {

enum class Fact : std::uint8_t {
  none,
  not_available,  // no public call of the driver tells it
  deprecated,     // the driver has given it up
  // Of a device
  name,
  uuid,
  bus_id,
  driver,
  index,
  pci_domain,
  pci_bus,
  pci_device,
  bar1_free,
  // Of a MIG instance
  instance_index,
  instance_bar1_free,
  // Of the query
  timestamp,
  count,
  // Of a process
  pid,
  program,
  process_memory,
  // Of a process that the driver has accounts of
  accounted_gpu_use,
  accounted_memory_use,
  accounted_memory,
  accounted_time,
  // Of a retired page
  page_address,
  page_time,
  page_cause,
  // Of clocks that can be set
  memory_clock,
  graphics_clock,
};

}  // namespace gpulse::smi

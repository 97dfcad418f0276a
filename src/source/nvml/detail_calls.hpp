// SPDX-License-Identifier: Apache-2.0
// Readers of details that need more than one plain call; the table is in detail_readers.cpp. They are called only for
// commands that ask for details, so frame.details is never null.
#pragma once

#include "source/api/source.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

// Of what a reader can tell, only what the command shows is asked for.
inline bool wanted(const Driver &driver, const Frame &frame, MetricId id) {
  return driver.wants(id) && frame.is_due(id);
}

// Identity and place of the device.
Outcome pci_ids(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome pci_class(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome kernel_module(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome chip_identity(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome hostname_assigned(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome inforom_oem(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome inforom_ecc(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome inforom_power(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome inforom_valid(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome inforom_flush(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome memory_affinity(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome platform(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome workload_profiles(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome fabric(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome pcie_host_max(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

// Lists, and buffers of the driver.
Outcome supported_clocks(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome retired_page_list(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome accounted_processes(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome links(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome instance_profiles(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome device_parts(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);
Outcome sample_windows(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame);

}  // namespace gpulse::nvml

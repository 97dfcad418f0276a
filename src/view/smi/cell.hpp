// SPDX-License-Identifier: Apache-2.0
// A single value as nvidia-smi prints it, and what the views of nvidia-smi's output share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/snapshot.hpp"
#include "smi/fact.hpp"
#include "smi/form.hpp"
#include "smi/value.hpp"

namespace gpulse::view::smi {

using namespace gpulse::smi;  // the table that all of this is written from

// A value without its unit; `known` is false for N/A and errors.
struct Cell {
  std::string text;
  bool known = true;

  std::string with(std::string_view unit) const;  // "85 %"
};

Cell not_available();
// What a log says and no metric stands for.
Cell told(const Device &device, std::string_view name);
Cell reason_cell(Reason reason, std::uint16_t code);

// A metric of the device, from its readings or its details.
Reading reading(const Device &device, MetricId id);
TextReading text_reading(const Device &device, MetricId id);
// A number or a text, depending on the metric; only the bits of `mask`, unless it is 0.
Cell cell(const Device &device, MetricId id, const Form &form, std::uint64_t mask = 0);
Cell cell(const Reading &value, const Form &form);
// N/A for facts that are not about a device.
Cell cell(const Device &device, Fact fact);

// "00000000:00:06.0": eight digits of domain (four in v8), capital letters. Unchanged if it is not a PCI address.
std::string bus_id(const Device &device, int digits = 8);
struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0;
};
std::optional<PciAddress> pci_address(const Device &device);

// nvidia-smi's text for an error of the driver, such as "Unknown Error".
std::string_view driver_words(std::uint16_t code);

// The devices that a command is about.
struct Selection {
  const Snapshot *snapshot = nullptr;
  std::vector<const Device *> devices;  // without instances
  std::size_t attached = 0;             // in the machine
};
// `which` is like "0,GPU-…,0000:06:00.0"; empty means all. Fails if one of them is not there.
std::optional<Selection> select_devices(const Snapshot &snapshot, std::string_view which);

// "Sun Nov 15 02:31:18 2026" and "2026/11/15 02:31:18.730"; N/A for a log that does not tell.
std::string long_time_of(const Snapshot &snapshot);
Cell stamp_of(const Snapshot &snapshot);

std::string driver_version(const Selection &selection);
std::string cuda_version(const Selection &selection);

std::vector<const Device *> instances_of(const Snapshot &snapshot, const Device &device);
// The processes on the device and its instances, sorted by pid.
struct DeviceProcess {
  const Process *process;
  const Device *device;  // the device or one of its instances
};
std::vector<DeviceProcess> processes_on(const Snapshot &snapshot, const Device &device);
std::string type_letters(const Process &process);  // "C", "G", "C+G", "M+C"
std::string program(const Process &process);

}  // namespace gpulse::view::smi

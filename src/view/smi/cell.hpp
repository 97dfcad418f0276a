// SPDX-License-Identifier: Apache-2.0
// One value in nvidia-smi's words: how a number looks, and what stands where there is none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/snapshot.hpp"
#include "smi/fact.hpp"
#include "smi/form.hpp"
#include "smi/value.hpp"

namespace gpulse::view::smi {

using namespace gpulse::smi;  // the words that are written here

// A value without its unit; `known` is false where words stand in its place.
struct Cell {
  std::string text;
  bool known = true;

  std::string with(std::string_view unit) const;  // "85 %"
};

Cell not_available();
Cell in_words(Reason reason, std::uint16_t code);

// The reading of a device's metric or detail.
Reading reading(const Device &device, MetricId id);
TextReading text_reading(const Device &device, MetricId id);
// Number or text, whichever the metric is; of a set those bits of `mask` alone, unless it is 0.
Cell cell(const Device &device, MetricId id, const Form &form, std::uint64_t mask = 0);
Cell cell(const Reading &value, const Form &form);
// What a device is, rather than what it measures; N/A for facts that are not of a device.
Cell cell(const Snapshot &snapshot, const Device &device, Fact fact);

// "00000000:00:06.0", with the domain in eight digits and capital letters; as it is where it is no PCI address.
std::string bus_id(const Device &device);
struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0;
};
std::optional<PciAddress> pci_address(const Device &device);

// The words of the driver for one of its codes: "Unknown Error".
std::string_view driver_words(std::uint16_t code);

// What is shown: the devices chosen, of those that are there.
struct Scene {
  const Snapshot *snapshot = nullptr;
  std::vector<const Device *> devices;  // whole ones
  std::size_t attached = 0;             // all there are
};
// "0,GPU-…,0000:06:00.0": by number, UUID or PCI address; empty means all. Nothing where one is not there.
std::optional<Scene> choose(const Snapshot &snapshot, std::string_view which);

std::string driver_version(const Scene &scene);
std::string cuda_version(const Scene &scene);

// The instances of a device.
std::vector<const Device *> instances_of(const Snapshot &snapshot, const Device &device);
// Processes on the device or one of its instances, by pid.
struct Holder {
  const Process *process;
  const Device *device;  // the device itself, or the instance
};
std::vector<Holder> holders(const Snapshot &snapshot, const Device &device);
std::string type_letters(const Process &process);  // "C", "G", "C+G", "M+C"
std::string program(const Process &process);

}  // namespace gpulse::view::smi

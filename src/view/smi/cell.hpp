// SPDX-License-Identifier: Apache-2.0
// One value in nvidia-smi's words: how a number looks, and what stands where there is none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/snapshot.hpp"

namespace gpulse::view::smi {

// A value without its unit; `known` is false where words stand in its place.
struct Cell {
  std::string text;
  bool known = true;

  std::string with(std::string_view unit) const;  // "85 %"
};

Cell not_available();
Cell in_words(Reason reason, std::uint16_t code);

// How a number is written, and its unit.
struct Form {
  std::string_view unit;
  std::string (*text)(double);
};

namespace form {
std::string integer(double value);
std::string two_digits(double value);
std::string mib_up(double bytes);
std::string mib_down(double bytes);
std::string kilobytes(double bytes);
std::string micro(double seconds);
std::string milli(double seconds);
std::string lanes(double value);
std::string enabled(double value);
std::string enabled_low(double value);
std::string yes_no(double value);
std::string performance(double value);
std::string compute_mode(double value);
std::string addressing(double value);
std::string validity(double value);
std::string recovery(double value);
std::string operation_mode(double value);
std::string virtualization(double value);
std::string peer_type(double value);
std::string fabric_state(double value);
std::string fabric_status(double value);
std::string health_summary(double value);
std::string hex(double value);
std::string hex8(double value);
std::string hex16(double value);
std::string bare_hex(double value);
std::string bare_hex8(double value);
std::string atomics(double mask);
}  // namespace form

// The reading of a device's metric or detail.
Reading reading(const Device &device, MetricId id);
TextReading text_reading(const Device &device, MetricId id);
// Number or text, whichever the metric is.
Cell cell(const Device &device, MetricId id, const Form &form);
// A bit of a set, or of a mask: "Active".
Cell bit(const Device &device, MetricId id, std::uint64_t mask);

// A part of the fabric's health, two bits each: "True", "False".
Cell fabric_health(const Device &device, unsigned place);

// "00000000:00:06.0", with the domain in eight digits and capital letters; as it is where it is no PCI address.
std::string bus_id(const Device &device);
struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0;
};
std::optional<PciAddress> pci_address(const Device &device);

// The words of the driver for one of its codes: "Unknown Error".
std::string_view driver_words(std::uint16_t code);

// "Sun Nov 15 02:31:18 2026" and "2026/11/15 02:31:18.730", in local time.
std::string long_time(WallTime time);
std::string stamp(WallTime time);

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

// SPDX-License-Identifier: Apache-2.0
#include "view/smi/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/text.hpp"
#include "model/driver_version.hpp"
#include "model/nvml_error.hpp"

namespace gpulse::view::smi {

namespace {

// By index, UUID, or PCI address with or without domain and function.
bool is_called(const Device &device, std::string_view word) {
  if (const auto number = parse_integer<std::uint32_t>(word)) return *number == device.id.index;
  const auto name = lower(word);
  if (name == lower(device.identity->uuid)) return true;
  const auto at = pci_address(device);
  if (!at) return false;
  for (const auto function : {"", ".0"}) {
    const auto place = fmt::format("{:02x}:{:02x}{}", at->bus, at->device, function);
    if (name == fmt::format("{:04x}:{}", at->domain, place) || name == fmt::format("{:08x}:{}", at->domain, place))
      return true;
    if (at->domain == 0 && name == place) return true;
  }
  return false;
}

}  // namespace

[[gnu::hot]] std::string Cell::with(std::string_view unit) const {
  return known && !unit.empty() ? (text + ' ').append(unit) : text;
}

Cell told(const Device &device, std::string_view name) {
  if (device.details == nullptr) return not_available();
  const auto found = device.details->told.find(name);
  if (found == device.details->told.end()) return not_available();
  return {found->second, !reason_in(found->second)};
}

Cell not_available() { return {std::string(kNotAvailable), false}; }

std::string_view driver_words(std::uint16_t code) { return nvml_error(code).smi_words; }

Cell reason_cell(Reason reason, std::uint16_t code) {
  switch (reason) {
    case Reason::no_permission:
      return {std::string(driver_words(nvml_code::kNoPermission)), false};
    case Reason::lost:
      return {std::string(driver_words(nvml_code::kLost)), false};
    case Reason::not_responding:
      return {std::string(driver_words(nvml_code::kTimeout)), false};
    case Reason::reset_required:
      return {std::string(driver_words(nvml_code::kResetRequired)), false};
    case Reason::deprecated:
      return {std::string(driver_words(nvml_code::kDeprecated)), false};
    case Reason::error:
      return {std::string(driver_words(code != 0 ? code : nvml_code::kUnknown)), false};
    default:
      if (code == kNotInWddm) return {std::string(kNotInWddmWords), false};
      return code != 0 ? Cell{std::string(driver_words(code)), false} : not_available();
  }
}

[[gnu::hot]] Reading reading(const Device &device, MetricId id) {
  if (describe(id).scope == Scope::device) return device.row[id];
  return device.details != nullptr ? device.details->row[id] : Reading(Reason::not_supported);
}

TextReading text_reading(const Device &device, MetricId id) {
  if (describe(id).scope == Scope::device) return device.identity->texts[id];
  return device.details != nullptr ? device.details->texts[id] : TextReading(Reason::not_supported);
}

[[gnu::hot]] Cell cell(const Reading &value, const Form &form) {
  if (!value) return reason_cell(value.reason(), value.code());
  return {form.print(value.value())};
}

[[gnu::hot]] Cell cell(const Device &device, MetricId id, const Form &form, std::uint64_t mask) {
  if (is_text(describe(id))) {
    const auto text = text_reading(device, id);
    return text ? Cell{text.value()} : reason_cell(text.reason(), text.code());
  }
  const auto value = reading(device, id);
  if (mask == 0 || !value) return cell(value, form);
  const auto bits = (static_cast<std::uint64_t>(value.value()) & mask) >> std::countr_zero(mask);
  return {form.print(static_cast<double>(bits))};
}

namespace {

Cell pci_number(const Device &device, unsigned PciAddress::*part, int digits) {
  const auto at = pci_address(device);
  return at ? Cell{fmt::format("0x{:0{}X}", (*at).*part, digits)} : not_available();
}

// nvidia-smi subtracts the rounded numbers for a device, but rounds the difference for an instance.
Cell bar1_free(const Device &device, bool instance) {
  const auto total = reading(device, device_metric("bar1_total_bytes"));
  const auto used = reading(device, device_metric("bar1_used_bytes"));
  if (!total || !used) return cell(total ? used : total, kMib);
  if (instance) return {print::mib_up(total.value() - used.value())};
  constexpr double kMibBytes = 1024.0 * 1024.0;
  return {print::integer(std::floor(total.value() / kMibBytes) - std::floor(used.value() / kMibBytes))};
}

}  // namespace

Cell cell(const Device &device, Fact fact) {
  switch (fact) {
    case Fact::deprecated:
      return reason_cell(Reason::deprecated, 0);
    case Fact::name:
      return {device.identity->name};
    case Fact::uuid:
      return {device.identity->uuid};
    case Fact::bus_id:
      return {bus_id(device)};
    case Fact::driver: {
      const auto version = gpulse::driver_version(*device.identity);
      return version.empty() ? not_available() : Cell{std::string(version)};
    }
    case Fact::index:
      return {fmt::format("{}", device.id.index)};
    case Fact::pci_domain:
      return pci_number(device, &PciAddress::domain, 4);
    case Fact::pci_bus:
      return pci_number(device, &PciAddress::bus, 2);
    case Fact::pci_device:
      return pci_number(device, &PciAddress::device, 2);
    case Fact::bar1_free:
    case Fact::instance_bar1_free:
      return bar1_free(device, fact == Fact::instance_bar1_free);
    case Fact::instance_index:
      return device.id.instance ? Cell{fmt::format("{}", *device.id.instance)} : not_available();
    default:
      return not_available();
  }
}

std::optional<PciAddress> pci_address(const Device &device) {
  std::string_view rest = device.identity->pci.str();
  const auto part = [&](char end) { return parse_integer<unsigned>(next_piece(rest, end), 16); };
  const auto domain = part(':'), bus = part(':'), slot = part('.');
  if (!domain || !bus || !slot) return std::nullopt;
  return PciAddress{.domain = *domain, .bus = *bus, .device = *slot};
}

std::string bus_id(const Device &device, int digits) {
  const auto at = pci_address(device);
  if (!at) return device.identity->pci.empty() ? std::string(kNotAvailable) : device.identity->pci.str();
  return fmt::format("{:0{}X}:{:02X}:{:02X}.0", at->domain, digits, at->bus, at->device);
}

[[gnu::hot]] std::optional<Selection> select_devices(const Snapshot &snapshot, std::string_view which) {
  Selection selection{.snapshot = &snapshot, .devices = {}, .attached = 0};
  std::vector<const Device *> all;
  for (const auto &device : snapshot.devices) {
    if (device.identity->parent.empty()) all.push_back(&device);
  }
  selection.attached = all.size();
  if (which.empty()) selection.devices = all;
  while (!which.empty()) {
    const auto word = trim(next_piece(which, ','));
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Device *device) { return is_called(*device, word); });
    if (found == all.end()) return std::nullopt;
    if (std::find(selection.devices.begin(), selection.devices.end(), *found) == selection.devices.end()) {
      selection.devices.push_back(*found);
    }
  }
  const auto by_id = [](const Device *a, const Device *b) { return a->id < b->id; };
  if (selection.devices.size() > 1) std::sort(selection.devices.begin(), selection.devices.end(), by_id);
  return selection;
}

std::string long_time_of(const Snapshot &snapshot) {
  return has_time(snapshot) ? long_time(snapshot.time) : std::string(kNotAvailable);
}

Cell stamp_of(const Snapshot &snapshot) { return has_time(snapshot) ? Cell{stamp(snapshot.time)} : not_available(); }

std::string driver_version(const Selection &selection) {
  for (const auto *device : selection.devices) {
    if (const auto version = gpulse::driver_version(*device->identity); !version.empty()) return std::string(version);
  }
  return std::string(kNotAvailable);
}

std::string cuda_version(const Selection &selection) {
  TextReading version = Reason::not_supported;
  for (const auto *device : selection.devices) {
    version = text_reading(*device, device_metric("cuda_version"));
    if (version) return version.value();
  }
  return reason_cell(version.reason(), version.code()).text;
}

std::vector<const Device *> instances_of(const Snapshot &snapshot, const Device &device) {
  std::vector<const Device *> out;
  for (const auto &one : snapshot.devices) {
    if (one.is_instance() && one.id.index == device.id.index) out.push_back(&one);
  }
  return out;
}

std::vector<DeviceProcess> processes_on(const Snapshot &snapshot, const Device &device) {
  auto parts = instances_of(snapshot, device);
  parts.push_back(&device);
  std::vector<DeviceProcess> out;
  for (const auto &process : snapshot.processes) {
    const auto on = std::find_if(parts.begin(), parts.end(), [&](const Device *d) { return d->id == process.device; });
    if (on != parts.end()) out.push_back({&process, *on});
  }
  std::sort(out.begin(), out.end(),
            [](const DeviceProcess &a, const DeviceProcess &b) { return a.process->pid < b.process->pid; });
  return out;
}

std::string type_letters(const Process &process) {
  const auto has = [&](ProcessType type) { return (process.types & static_cast<std::uint8_t>(type)) != 0; };
  if (has(ProcessType::mps)) return has(ProcessType::graphics) ? "M+C+G" : "M+C";
  if (has(ProcessType::compute)) return has(ProcessType::graphics) ? "C+G" : "C";
  return "G";
}

std::string program(const Process &process) {
  if (process.texts == nullptr) return "[Not Found]";
  for (const auto id : {process_metric("program"), process_metric("name")}) {
    if (const auto &text = (*process.texts)[id]) return text.value();
  }
  const auto &why = (*process.texts)[process_metric("program")];
  const auto words = reason_cell(why.reason(), why.code()).text;
  return words == kNotAvailable ? "[Not Found]" : fmt::format("[{}]", words);
}

}  // namespace gpulse::view::smi

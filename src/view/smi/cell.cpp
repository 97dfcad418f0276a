// SPDX-License-Identifier: Apache-2.0
#include "view/smi/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "model/nvml_error.hpp"

namespace gpulse::view::smi {

namespace {

constexpr double kMib = 1024.0 * 1024.0;
constexpr std::string_view kNotAvailable = "N/A";

template <std::size_t N>
std::string pick(const std::array<std::string_view, N> &names, double value) {
  const auto place = static_cast<std::size_t>(std::max(0.0, value));
  return place < N ? std::string(names[place]) : fmt::format("{:.0f}", value);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// By its number, its UUID, or its PCI address with or without the domain and the function.
bool is_called(const Device &device, std::string_view word) {
  if (const auto number = parse_integer<std::uint32_t>(word)) return *number == device.index;
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

std::string Cell::with(std::string_view unit) const {
  return known && !unit.empty() ? fmt::format("{} {}", text, unit) : text;
}

Cell not_available() { return {std::string(kNotAvailable), false}; }

std::string_view driver_words(std::uint16_t code) { return nvml_error(code).smi_words; }

Cell in_words(Reason reason, std::uint16_t code) {
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
      return {std::string(driver_words(code)), false};
    default:
      return not_available();
  }
}

namespace form {

std::string integer(double value) { return fmt::format("{:.0f}", value); }
std::string two_digits(double value) { return fmt::format("{:.2f}", value); }
std::string mib_up(double bytes) { return fmt::format("{:.0f}", std::ceil(bytes / kMib)); }
std::string mib_down(double bytes) { return fmt::format("{:.0f}", std::floor(bytes / kMib)); }
std::string kilobytes(double bytes) { return fmt::format("{:.0f}", bytes / 1000); }
std::string micro(double seconds) { return fmt::format("{:.0f}", seconds * 1e6); }
std::string milli(double seconds) { return fmt::format("{:.0f}", seconds * 1e3); }
std::string lanes(double value) { return fmt::format("{:.0f}x", value); }
std::string enabled(double value) { return value != 0 ? "Enabled" : "Disabled"; }
std::string enabled_low(double value) { return value != 0 ? "enabled" : "disabled"; }
std::string yes_no(double value) { return value != 0 ? "Yes" : "No"; }
std::string performance(double value) { return fmt::format("P{:.0f}", value); }
std::string compute_mode(double value) {
  static constexpr std::array<std::string_view, 4> kNames{"Default", "Exclusive_Thread", "Prohibited",
                                                          "Exclusive_Process"};
  return pick(kNames, value);
}
std::string addressing(double value) {
  static constexpr std::array<std::string_view, 3> kNames{"None", "HMM", "ATS"};
  return pick(kNames, value);
}
std::string validity(double value) { return value != 0 ? "valid" : "invalid"; }
std::string recovery(double value) {
  static constexpr std::array<std::string_view, 5> kNames{"None", "Reset", "Reboot", "Drain P2P", "Drain and Reset"};
  return pick(kNames, value);
}
std::string operation_mode(double value) {
  static constexpr std::array<std::string_view, 3> kNames{"All On", "Compute", "Low Double Precision"};
  return pick(kNames, value);
}
std::string virtualization(double value) {
  static constexpr std::array<std::string_view, 5> kNames{"None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA"};
  return pick(kNames, value);
}
std::string peer_type(double value) { return value != 0 ? "Switch Connected" : "Direct Connected"; }
std::string fabric_state(double value) {
  static constexpr std::array<std::string_view, 4> kNames{"N/A", "Not Started", "In Progress", "Completed"};
  return pick(kNames, value);
}
std::string fabric_status(double value) { return std::string(driver_words(static_cast<std::uint16_t>(value))); }
std::string health_summary(double value) {
  static constexpr std::array<std::string_view, 4> kNames{"N/A", "Healthy", "Unhealthy", "Limited Capacity"};
  return pick(kNames, value);
}
std::string hex(double value) { return fmt::format("0x{:x}", static_cast<std::uint64_t>(value)); }
std::string hex8(double value) { return fmt::format("0x{:08X}", static_cast<std::uint64_t>(value)); }
std::string hex16(double value) { return fmt::format("0x{:016X}", static_cast<std::uint64_t>(value)); }
std::string bare_hex(double value) { return fmt::format("{:X}", static_cast<std::uint64_t>(value)); }
std::string bare_hex8(double value) { return fmt::format("{:08X}", static_cast<std::uint64_t>(value)); }
std::string atomics(double mask) {
  static constexpr std::array<std::string_view, 9> kNames{
      "FETCHADD_32", "FETCHADD_64", "SWAP_32", "SWAP_64", "CAS_32", "CAS_64", "CAS_128", "FETCHADD_128", "SWAP_128"};
  std::string out;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((static_cast<std::uint64_t>(mask) >> i & 1U) == 0) continue;
    out += out.empty() ? "" : " ";
    out += kNames[i];
  }
  return out.empty() ? std::string(kNotAvailable) : out;
}

}  // namespace form

Reading reading(const Device &device, MetricId id) {
  if (describe(id).scope == Scope::device) return device.row[id];
  return device.details != nullptr ? device.details->row[id] : Reading(Reason::not_supported);
}

TextReading text_reading(const Device &device, MetricId id) {
  if (describe(id).scope == Scope::device) return device.identity->texts[id];
  return device.details != nullptr ? device.details->texts[id] : TextReading(Reason::not_supported);
}

Cell cell(const Device &device, MetricId id, const Form &form) {
  if (is_text(describe(id))) {
    const auto text = text_reading(device, id);
    return text ? Cell{text.value()} : in_words(text.reason(), text.code());
  }
  const auto value = reading(device, id);
  if (!value) return in_words(value.reason(), value.code());
  return {form.text(value.value())};
}

Cell bit(const Device &device, MetricId id, std::uint64_t mask) {
  const auto value = reading(device, id);
  if (!value) return in_words(value.reason(), value.code());
  return {(static_cast<std::uint64_t>(value.value()) & mask) != 0 ? "Active" : "Not Active"};
}

Cell fabric_health(const Device &device, unsigned place) {
  const auto mask = reading(device, detail_metric("fabric_health"));
  if (!mask) return in_words(mask.reason(), mask.code());
  const auto value = static_cast<std::uint64_t>(mask.value()) >> (2 * place) & 3U;
  if (value == 0) return not_available();
  return {value == 1 ? "True" : "False"};
}

std::optional<PciAddress> pci_address(const Device &device) {
  PciAddress at;
  if (std::sscanf(device.identity->pci.c_str(), "%x:%x:%x", &at.domain, &at.bus, &at.device) != 3) return std::nullopt;
  return at;
}

std::string bus_id(const Device &device) {
  const auto at = pci_address(device);
  if (!at) return device.identity->pci.empty() ? std::string(kNotAvailable) : device.identity->pci;
  return fmt::format("{:08X}:{:02X}:{:02X}.0", at->domain, at->bus, at->device);
}

std::string long_time(WallTime time) { return local_time(time, "%a %b %e %H:%M:%S %Y"); }

std::string stamp(WallTime time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
  return fmt::format("{}.{:03}", local_time(time, "%Y/%m/%d %H:%M:%S"), ms);
}

std::optional<Scene> choose(const Snapshot &snapshot, std::string_view which) {
  Scene scene{.snapshot = &snapshot, .devices = {}, .attached = 0};
  std::vector<const Device *> all;
  for (const auto &device : snapshot.devices) {
    if (device.identity->parent.empty()) all.push_back(&device);
  }
  scene.attached = all.size();
  if (which.empty()) scene.devices = all;
  while (!which.empty()) {
    const auto word = trim(next_piece(which, ','));
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Device *device) { return is_called(*device, word); });
    if (found == all.end()) return std::nullopt;
    if (std::find(scene.devices.begin(), scene.devices.end(), *found) == scene.devices.end()) {
      scene.devices.push_back(*found);
    }
  }
  std::sort(scene.devices.begin(), scene.devices.end(),
            [](const Device *a, const Device *b) { return a->index < b->index; });
  return scene;
}

std::string driver_version(const Scene &scene) {
  for (const auto *device : scene.devices) {
    if (!device->identity->driver.empty()) return device->identity->driver;
  }
  return std::string(kNotAvailable);
}

std::string cuda_version(const Scene &scene) {
  for (const auto *device : scene.devices) {
    if (const auto version = text_reading(*device, device_metric("cuda_version"))) return version.value();
  }
  return std::string(kNotAvailable);
}

std::vector<const Device *> instances_of(const Snapshot &snapshot, const Device &device) {
  std::vector<const Device *> out;
  for (const auto &one : snapshot.devices) {
    if (one.parent == device.index) out.push_back(&one);
  }
  return out;
}

std::vector<Holder> holders(const Snapshot &snapshot, const Device &device) {
  auto parts = instances_of(snapshot, device);
  parts.push_back(&device);
  std::vector<Holder> out;
  for (const auto &process : snapshot.processes) {
    const auto on =
        std::find_if(parts.begin(), parts.end(), [&](const Device *d) { return d->index == process.device; });
    if (on != parts.end()) out.push_back({&process, *on});
  }
  std::sort(out.begin(), out.end(), [](const Holder &a, const Holder &b) { return a.process->pid < b.process->pid; });
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
  return "[Not Found]";
}

}  // namespace gpulse::view::smi

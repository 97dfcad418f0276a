// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "source/drm/pcie_link.hpp"
#include "source/nvml/code.hpp"
#include "source/nvml/detail_calls.hpp"
#include "source/nvml/identity.hpp"
#include "source/nvml/kernel_module.hpp"
#include "source/nvml/reader_calls.hpp"

namespace gpulse::nvml {

namespace {

Outcome put_text(Frame &frame, MetricId id, Return code, std::string text) {
  frame.details->texts[id] = code == Return::success ? TextReading(std::move(text)) : text_reason_of(code);
  return outcome_of(code);
}

template <std::size_t N>
std::string bytes_as_text(const std::array<std::uint8_t, N> &bytes) {
  const auto *begin = reinterpret_cast<const char *>(bytes.data());
  return std::string(trim(std::string_view(begin, strnlen(begin, N))));
}

Outcome inforom_object(const Driver &driver, DeviceData &device, Frame &frame, std::uint32_t object, MetricId id) {
  std::array<char, kNameBytes> buffer{};
  const auto code =
      driver.api->inforom_version(device.handle, object, buffer.data(), static_cast<std::uint32_t>(buffer.size()));
  return put_text(frame, id, code, text_of(buffer));
}

std::string bits_as_list(const ProfileMask &mask) {
  std::vector<std::size_t> set;
  for (std::size_t i = 0; i < mask.size() * 32; ++i) {
    if ((mask[i / 32] >> (i % 32) & 1U) != 0) set.push_back(i);
  }
  return fmt::format("{}", fmt::join(set, ", "));
}

std::string uuid_text(const std::array<std::uint8_t, 16> &bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace

Outcome pci_ids(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  PciInfo info{};
  auto code = driver.api->pci_v3(device.handle, &info);
  if (try_older(code)) {
    PciInfoV2 old{};
    auto older = driver.api->pci_v2(device.handle, &old);
    if (try_older(older)) older = driver.api->pci_v1(device.handle, &old);
    if (older != Return::function_not_found) code = older;
    info.pci_device_id = old.pci_device_id;
    info.pci_subsystem_id = old.pci_subsystem_id;
  }
  put(frame, detail_metric("pci_subsystem_id"), code, info.pci_subsystem_id);
  return put(frame, detail_metric("pci_device_id"), code, info.pci_device_id);
}

Outcome pci_class(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  // From the kernel, because the driver needs milliseconds for it.
  if (const auto text =
          device.pci.empty() ? std::nullopt : driver.root.read("/sys/bus/pci/devices/" + device.pci + "/class", 64)) {
    auto number = trim(*text);
    if (number.starts_with("0x")) number.remove_prefix(2);
    if (const auto all = parse_integer<std::uint32_t>(number, 16)) {
      put(frame, detail_metric("pci_sub_class"), Return::success, *all >> 8U & 0xFFU);
      return put(frame, detail_metric("pci_base_class"), Return::success, *all >> 16U);
    }
  }
  PciInfoExt info{};
  info.version = version_word<PciInfoExt>(1);
  const auto code = driver.api->pci_ext(device.handle, &info);
  put(frame, detail_metric("pci_sub_class"), code, info.sub_class);
  return put(frame, detail_metric("pci_base_class"), code, info.base_class);
}

Outcome chip_identity(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  Pdi pdi{.version = version_word<Pdi>(1), .value = 0};
  const auto code = driver.api->pdi(device.handle, &pdi);
  return put_text(frame, detail_metric("chip_identity"), code, fmt::format("{:#x}", pdi.value));
}

Outcome kernel_module(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  if (device.instance) return Outcome::unsupported;
  const auto told = read_kernel_module(driver, device);
  frame.details->texts[detail_metric("gpu_part_number")] = told.part_number;
  frame.details->row[detail_metric("sparse_operation_mode")] = told.sparse_mode;
  return Outcome::ok;
}

Outcome hostname_assigned(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  Hostname name{};
  const auto code = driver.api->hostname(device.handle, &name);
  return put_text(frame, detail_metric("hostname_assigned"), code, text_of(name.text));
}

Outcome inforom_oem(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  return inforom_object(driver, device, frame, 0, detail_metric("inforom_oem_version"));
}

Outcome inforom_ecc(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  return inforom_object(driver, device, frame, 1, detail_metric("inforom_ecc_version"));
}

Outcome inforom_power(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  return inforom_object(driver, device, frame, 2, detail_metric("inforom_power_version"));
}

Outcome inforom_valid(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  const auto code = driver.api->inforom_validate(device.handle);
  const bool told = code == Return::success || code == Return::corrupted_inforom;
  return put(frame, detail_metric("inforom_valid"), told ? Return::success : code, code == Return::success ? 1 : 0);
}

Outcome inforom_flush(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint64_t seconds = 0;
  unsigned long duration_us = 0;
  auto code = driver.api->inforom_flush(device.handle, &seconds, &duration_us);
  // A board without a black box never becomes "ready".
  if (code == Return::not_ready) code = Return::not_supported;
  put(frame, detail_metric("inforom_flush_duration_seconds"), code, static_cast<double>(duration_us) * 1e-6);
  return put(frame, detail_metric("inforom_flush_time_seconds"), code, static_cast<double>(seconds));
}

Outcome memory_affinity(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  constexpr std::uint32_t kOfNode = 0;
  std::array<unsigned long, 16> nodes{};
  const auto code =
      driver.api->memory_affinity(device.handle, static_cast<std::uint32_t>(nodes.size()), nodes.data(), kOfNode);
  return put_text(frame, detail_metric("memory_affinity"), code, bits_as_ranges(nodes));
}

Outcome platform(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  PlatformInfo info{};
  info.version = version_word<PlatformInfo>(2);
  auto code = driver.api->platform(device.handle, &info);
  const bool tells_serial = code == Return::success;
  if (try_older(code)) {
    info = {};
    info.version = version_word<PlatformInfo>(1);
    code = driver.api->platform(device.handle, &info);
  }
  const auto guid = std::span(info.ib_guid).first(8);
  put_text(frame, detail_metric("platform_fabric_guid"), code, fmt::format("0x{:02x}", fmt::join(guid, "")));
  // The first version has the rack's number in this place.
  put_text(frame, detail_metric("platform_chassis_serial"),
           code == Return::success && !tells_serial ? Return::not_supported : code, bytes_as_text(info.chassis_serial));
  put(frame, detail_metric("platform_tray"), code, info.tray);
  put(frame, detail_metric("platform_host"), code, info.host);
  put(frame, detail_metric("platform_peer_type"), code, info.peer_type);
  put(frame, detail_metric("platform_module"), code, info.module);
  return put(frame, detail_metric("platform_slot"), code, info.slot);
}

Outcome workload_profiles(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  WorkloadProfiles profiles{};
  profiles.version = version_word<WorkloadProfiles>(1);
  const auto code = driver.api->workload_profiles(device.handle, &profiles);
  put_text(frame, detail_metric("workload_profiles_enforced"), code, bits_as_list(profiles.enforced));
  return put_text(frame, detail_metric("workload_profiles_requested"), code, bits_as_list(profiles.requested));
}

Outcome fabric(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  FabricInfoV3 info{};
  info.version = version_word<FabricInfoV3>(3);
  auto code = driver.api->fabric(device.handle, &info);
  const bool tells_summary = code == Return::success;
  if (try_older(code)) {
    FabricInfoV2 old{};
    old.version = version_word<FabricInfoV2>(2);
    code = driver.api->fabric(device.handle, &old);
    info = {.version = 0,
            .cluster_uuid = old.cluster_uuid,
            .status = old.status,
            .clique = old.clique,
            .state = old.state,
            .health_mask = old.health_mask,
            .health_summary = 0};
  }
  // A device that cannot be part of a fabric answers with zeros.
  const auto rest = code == Return::success && info.state == 0 ? Return::not_supported : code;
  put_text(frame, detail_metric("fabric_cluster"), rest, uuid_text(info.cluster_uuid));
  put(frame, detail_metric("fabric_status"), rest, info.status);
  put(frame, detail_metric("fabric_clique"), rest, info.clique);
  put(frame, detail_metric("fabric_health"), rest, info.health_mask);
  put(frame, detail_metric("fabric_health_summary"),
      rest == Return::success && !tells_summary ? Return::not_supported : rest, info.health_summary);
  return put(frame, detail_metric("fabric_state"), code, info.state);
}

Outcome pcie_host_max(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  auto &reading = *frame.find(detail_metric("pcie_link_generation_host_max")) = Reason::not_supported;
  if (device.pci.empty() || device.integrated) return Outcome::unsupported;
  drm::Card card;
  card.device = "/sys/bus/pci/devices/" + device.pci;
  const auto link = drm::find_pcie_link(driver.root, card);
  if (link.slot.empty()) return Outcome::unsupported;
  const auto text = driver.root.read(link.slot + "/max_link_speed", 64);
  if (const auto generation = text ? drm::parse_pcie_generation(trim(*text)) : std::nullopt) reading = *generation;
  return reading.has_value() ? Outcome::ok : Outcome::unsupported;
}

}  // namespace gpulse::nvml

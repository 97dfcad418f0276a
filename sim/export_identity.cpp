// SPDX-License-Identifier: Apache-2.0
// Identity and place of a device: names, PCI, affinity, topology.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::AddressingMode;
using gpulse::nvml::PciInfo;
using gpulse::nvml::PciInfoExt;
using gpulse::nvml::PciInfoV2;

namespace {

template <std::size_t N>
void write_text(std::array<char, N> &target, const std::string &text) {
  std::snprintf(target.data(), N, "%s", text.c_str());
}

// The old form has a four-digit domain: 0000:00:06.0 instead of 00000000:00:06.0.
std::string legacy_bus_id(const Device &device) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04X:%02X:%02X.0", device.pci.domain & 0xFFFFU, device.pci.bus & 0xFFU,
                device.pci.device & 0xFFU);
  return text.data();
}

template <class T>
void fill_pci(const Call &call, T &info) {
  const Device &device = call.device();
  info.domain = device.pci.domain;
  info.bus = device.pci.bus;
  info.device = device.pci.device;
  info.pci_device_id = static_cast<std::uint32_t>(device[Key::pci_device_id].constant);
  info.pci_subsystem_id = static_cast<std::uint32_t>(device[Key::pci_subsystem_id].constant);
}

Return pci_old(const Call &call, PciInfoV2 *out) {
  GPULSE_SIM_NEED(out != nullptr)
  *out = {};
  fill_pci(call, *out);
  write_text(out->bus_id, legacy_bus_id(call.device()));
  return Return::success;
}

// "0-15,64-79" as bits of an unsigned long array.
void set_cpus(const std::string &cpus, std::span<unsigned long> set) {
  constexpr std::size_t kBits = sizeof(unsigned long) * 8;
  const char *text = cpus.c_str();
  while (*text != '\0') {
    char *end = nullptr;
    const unsigned long first = std::strtoul(text, &end, 10);
    unsigned long last = first;
    if (*end == '-') {
      last = std::strtoul(end + 1, &end, 10);
    }
    for (unsigned long cpu = first; cpu <= last && cpu < set.size() * kBits; ++cpu) {
      set[cpu / kBits] |= 1UL << (cpu % kBits);
    }
    text = *end == ',' ? end + 1 : "";
  }
}

Return cpu_affinity(const Call &call, std::uint32_t size, unsigned long *set) {
  GPULSE_SIM_NEED(set != nullptr && size > 0)
  const TextValue &cpus = call.target()[Text::cpus];
  if (cpus.code == Return::success) {
    std::fill_n(set, size, 0UL);
    set_cpus(cpus.text, {set, size});
  }
  return cpus.code;
}

// A setting wins over the scenario's value.
}  // namespace

GPULSE_SIM_TEXT(nvmlDeviceGetName, name)
GPULSE_SIM_TEXT(nvmlDeviceGetUUID, uuid)
GPULSE_SIM_TEXT(nvmlDeviceGetSerial, serial)
GPULSE_SIM_TEXT(nvmlDeviceGetVbiosVersion, vbios)
GPULSE_SIM_TEXT(nvmlDeviceGetBoardPartNumber, part_number)
GPULSE_SIM_TEXT(nvmlDeviceGetInforomImageVersion, inforom_image)
GPULSE_SIM_NUMBER(nvmlDeviceGetMinorNumber, std::uint32_t, minor, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetModuleId, std::uint32_t, module_id, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetBoardId, std::uint32_t, board_id, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetMultiGpuBoard, std::uint32_t, multi_gpu_board, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetBrand, std::uint32_t, brand, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetArchitecture, std::uint32_t, architecture, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetNumGpuCores, std::uint32_t, cores, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetMemoryBusWidth, std::uint32_t, memory_bus_width, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetBusType, std::uint32_t, bus_type, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetIrqNum, std::uint32_t, irq, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetPowerSource, std::uint32_t, power_source, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetDisplayActive, std::uint32_t, display_active, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetDisplayMode, std::uint32_t, display_mode, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetNumaNodeId, std::uint32_t, numa_node, 1)

GPULSE_SIM_EXPORT Return nvmlDeviceGetIndex(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetIndex, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (call.mig() != nullptr) {
    *out = call.mig()->slot;
    return Return::success;
  }
  const std::vector<std::uint32_t> &order = *g_sim.order.load(std::memory_order_acquire);
  const auto found = std::ranges::find(order, call.place());
  *out = static_cast<std::uint32_t>(found - order.begin());
  return found == order.end() ? Return::not_found : Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetCudaComputeCapability(Handle device, int *major, int *minor) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetCudaComputeCapability, device)
  GPULSE_SIM_NEED(major != nullptr && minor != nullptr)
  *major = static_cast<int>(call.device()[Key::compute_major].constant);
  *minor = static_cast<int>(call.device()[Key::compute_minor].constant);
  return call.device()[Key::compute_major].code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetPciInfo(Handle device, PciInfoV2 *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPciInfo, device)
  return pci_old(call, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetPciInfo_v2(Handle device, PciInfoV2 *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPciInfo_v2, device)
  return pci_old(call, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetPciInfo_v3(Handle device, PciInfo *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPciInfo_v3, device)
  GPULSE_SIM_NEED(out != nullptr)
  *out = {};
  fill_pci(call, *out);
  write_text(out->bus_id_legacy, legacy_bus_id(call.device()));
  write_text(out->bus_id, call.device()[Text::pci_bus_id].text);
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetPciInfoExt(Handle device, PciInfoExt *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPciInfoExt, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (!version_is(*out, 1)) {
    return Return::argument_version_mismatch;
  }
  fill_pci(call, *out);
  out->base_class = static_cast<std::uint32_t>(call.device()[Key::pci_base_class].constant);
  out->sub_class = static_cast<std::uint32_t>(call.device()[Key::pci_sub_class].constant);
  write_text(out->bus_id, call.device()[Text::pci_bus_id].text);
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetInforomVersion(Handle device, std::uint32_t object, char *buffer,
                                                     std::uint32_t length) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetInforomVersion, device)
  GPULSE_SIM_NEED(object < 3)
  constexpr std::array<Text, 3> kObjects{Text::inforom_oem, Text::inforom_ecc, Text::inforom_power};
  return copy_text(call.target()[kObjects[object]], buffer, length);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetGspFirmwareVersion(Handle device, char *buffer) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGspFirmwareVersion, device)
  return copy_text(call.target()[Text::gsp_version], buffer, 64);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetGspFirmwareMode(Handle device, std::uint32_t *enabled, std::uint32_t *standard) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGspFirmwareMode, device)
  GPULSE_SIM_NEED(standard != nullptr)
  const Return code = call.give(Key::gsp_mode, enabled);
  return code == Return::success ? call.give(Key::gsp_mode_default, standard) : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetPersistenceMode(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPersistenceMode, device)
  return call.give_setting(call.device().settings->persistence, Key::persistence, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetComputeMode(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetComputeMode, device)
  return call.give_setting(call.device().settings->compute_mode, Key::compute_mode, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetCpuAffinity(Handle device, std::uint32_t size, unsigned long *set) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetCpuAffinity, device)
  return cpu_affinity(call, size, set);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetCpuAffinityWithinScope(Handle device, std::uint32_t size, unsigned long *set,
                                                             std::uint32_t) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetCpuAffinityWithinScope, device)
  return cpu_affinity(call, size, set);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetMemoryAffinity(Handle device, std::uint32_t size, unsigned long *set,
                                                     std::uint32_t) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMemoryAffinity, device)
  GPULSE_SIM_NEED(set != nullptr && size > 0)
  std::fill_n(set, size, 0UL);
  return call.give(Key::memory_affinity, set);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetTopologyCommonAncestor(Handle first, Handle second, std::uint32_t *level) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetTopologyCommonAncestor, first)
  const Call other(Fn::nvmlDeviceGetTopologyCommonAncestor, second);
  GPULSE_SIM_NEED(other && level != nullptr)
  const std::uint32_t low = std::min(call.place(), other.place());
  const std::uint32_t high = std::max(call.place(), other.place());
  const Topology &topology = call.scenario().topology;
  *level = low == high ? 0 : topology.level;
  for (const auto &[a, b, pair_level] : topology.pairs) {
    if (std::min(a, b) == low && std::max(a, b) == high) {
      *level = pair_level;
    }
  }
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetP2PStatus(Handle first, Handle second, std::uint32_t, std::uint32_t *status) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetP2PStatus, first)
  const Call other(Fn::nvmlDeviceGetP2PStatus, second);
  GPULSE_SIM_NEED(other && status != nullptr)
  *status = call.scenario().topology.p2p;
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetAddressingMode(Handle device, AddressingMode *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetAddressingMode, device)
  GPULSE_SIM_NEED(out != nullptr)
  return version_is(*out, 1) ? call.give(Key::addressing_mode, &out->value) : Return::argument_version_mismatch;
}

// SPDX-License-Identifier: Apache-2.0
// PCIe, NVLink, ECC, retired pages and remapped rows.
#include <array>
#include <cstdio>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::PciInfo;
using gpulse::nvml::PciInfoV2;
using gpulse::nvml::RemappedRowsV2;
using gpulse::nvml::RepairStatus;
using gpulse::nvml::RowRemapperHistogram;
using gpulse::nvml::SramEccErrorStatus;

namespace {

constexpr std::uint32_t kMaxLinks = 18;

// 2 for a link no board can have, 3 for one this board lacks.
Return check_link(const Call &call, std::uint32_t link) {
  GPULSE_SIM_NEED(link < kMaxLinks)
  const Number &links = call.target()[Key::nvlink_links];
  return links.supported() && link < links.constant ? Return::success : Return::not_supported;
}

// The device at the other end of a link; null: a switch.
const Device *link_peer(const Call &call, std::uint32_t link) {
  const auto &peers = call.device().link_peers;
  const auto &devices = call.scenario().devices;
  return link < peers.size() && peers[link] < devices.size() ? &devices[peers[link]] : nullptr;
}

// Four switches, on buses that no invented address of a device has.
PciAddress switch_address(std::uint32_t link) { return {.domain = 0, .bus = 0x05 + link % 4, .device = 0}; }

template <class T>
Return remote_pci(const Call &call, std::uint32_t link, T *out) {
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = check_link(call, link);
  if (code == Return::success) {
    const Device *peer = link_peer(call, link);
    const PciAddress address = peer != nullptr ? peer->pci : switch_address(link);
    *out = {};
    out->domain = address.domain;
    out->bus = address.bus;
    out->device = address.device;
    // The 16-byte form has room for a four-digit domain only.
    const char *format = sizeof(out->bus_id) == 16 ? "%04X:%02X:%02X.0" : "%08X:%02X:%02X.0";
    std::snprintf(out->bus_id.data(), out->bus_id.size(), format, address.domain & 0xFFFFU, address.bus & 0xFFU,
                  address.device & 0xFFU);
  }
  return code;
}

Return page_list(const Call &call, std::uint32_t cause, std::uint32_t *count, std::uint64_t *addresses,
                 std::uint64_t *times) {
  GPULSE_SIM_NEED(count != nullptr && cause < 2)
  const Number &pages = call.target()[cause == 0 ? Key::retired_sbe : Key::retired_dbe];
  if (!pages.supported()) {
    return pages.code;
  }
  const auto needed = static_cast<std::uint32_t>(call.at(pages));
  const std::uint32_t room = *count;
  *count = needed;
  if (needed > room || (needed > 0 && addresses == nullptr)) {
    return Return::insufficient_size;
  }
  const auto &listed = call.device().retired_pages[cause];
  for (std::uint32_t i = 0; i < needed; ++i) {
    const bool told = i < listed.size();
    addresses[i] = told ? listed[i].address : 0x100000ULL + i * 0x1000ULL;
    if (times != nullptr) {
      times[i] = told ? listed[i].time_s : wall_us(0) / 1000000;
    }
  }
  return Return::success;
}

// By [uncorrected][aggregate].
constexpr std::array<std::array<Key, 2>, 2> kDramErrors{
    {{Key::ecc_volatile_corrected, Key::ecc_aggregate_corrected},
     {Key::ecc_volatile_uncorrected, Key::ecc_aggregate_uncorrected}}};
constexpr std::array<std::array<Key, 2>, 2> kSramErrors{
    {{Key::ecc_sram_volatile_corrected, Key::ecc_sram_aggregate_corrected},
     {Key::ecc_sram_volatile_uncorrected, Key::ecc_sram_aggregate_uncorrected}}};

// Errors of one kind since the driver was loaded or ever, unless they were cleared.
Return count_errors(const Call &call, Key key, std::uint32_t counter, std::uint64_t *out) {
  const Return code = call.give(key, out);
  if (code == Return::success && call.device().settings->ecc_cleared[counter].load(std::memory_order_relaxed) > 0) {
    *out = 0;
  }
  return code;
}

}  // namespace

GPULSE_SIM_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, std::uint32_t, pcie_gen, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, std::uint32_t, pcie_width, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, std::uint32_t, pcie_max_gen, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, std::uint32_t, pcie_max_width, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, std::uint32_t, pcie_gpu_max_gen, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetPcieSpeed, std::uint32_t, pcie_speed, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetPcieLinkMaxSpeed, std::uint32_t, pcie_max_speed, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetPcieReplayCounter, std::uint32_t, pcie_replays, 1)

GPULSE_SIM_EXPORT Return nvmlDeviceGetPcieThroughput(Handle device, std::uint32_t counter, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPcieThroughput, device)
  GPULSE_SIM_NEED(counter < 2)
  return call.give(counter == 0 ? Key::pcie_tx_kbs : Key::pcie_rx_kbs, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetNvLinkState(Handle device, std::uint32_t link, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetNvLinkState, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = check_link(call, link);
  if (code == Return::success) {
    *out = std::ranges::find(call.device().links_down, link) == call.device().links_down.end() ? 1 : 0;
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetNvLinkVersion(Handle device, std::uint32_t link, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetNvLinkVersion, device)
  const Return code = check_link(call, link);
  return code == Return::success ? call.give(Key::nvlink_version, out) : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetNvLinkCapability(Handle device, std::uint32_t link, std::uint32_t capability,
                                                       std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetNvLinkCapability, device)
  GPULSE_SIM_NEED(out != nullptr && capability < 6)
  *out = 1;
  return check_link(call, link);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetNvLinkRemotePciInfo(Handle device, std::uint32_t link, PciInfoV2 *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetNvLinkRemotePciInfo, device)
  return remote_pci(call, link, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Handle device, std::uint32_t link, PciInfo *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetNvLinkRemotePciInfo_v2, device)
  return remote_pci(call, link, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetNvLinkRemoteDeviceType(Handle device, std::uint32_t link, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetNvLinkRemoteDeviceType, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = check_link(call, link);
  if (code == Return::success && link_peer(call, link) != nullptr) {
    *out = 0;
    return code;
  }
  return code == Return::success ? call.give(Key::nvlink_remote_type, out) : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetNvLinkErrorCounter(Handle device, std::uint32_t link, std::uint32_t counter,
                                                         std::uint64_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetNvLinkErrorCounter, device)
  constexpr std::array kCounters{Key::nvlink_replay_errors, Key::nvlink_recovery_errors, Key::nvlink_crc_errors,
                                 Key::nvlink_crc_errors};
  GPULSE_SIM_NEED(counter < kCounters.size())
  const Return code = check_link(call, link);
  return code == Return::success ? call.give(kCounters[counter], out) : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetEccMode(Handle device, std::uint32_t *current, std::uint32_t *pending) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetEccMode, device)
  GPULSE_SIM_NEED(current != nullptr && pending != nullptr)
  const Return code = call.give(Key::ecc_mode, current);
  if (code != Return::success) {
    return code;
  }
  const double set = call.device().settings->ecc_pending.load(std::memory_order_relaxed);
  if (!std::isnan(set)) {
    *pending = static_cast<std::uint32_t>(set);
  } else if (call.give(Key::ecc_pending, pending) != Return::success) {
    *pending = *current;
  }
  return Return::success;
}

GPULSE_SIM_NUMBER(nvmlDeviceGetDefaultEccMode, std::uint32_t, ecc_default, 1)

GPULSE_SIM_EXPORT Return nvmlDeviceGetTotalEccErrors(Handle device, std::uint32_t type, std::uint32_t counter,
                                                     std::uint64_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetTotalEccErrors, device)
  GPULSE_SIM_NEED(type < 2 && counter < 2)
  const Return code = count_errors(call, kDramErrors[type][counter], counter, out);
  std::uint64_t sram = 0;
  if (code == Return::success && count_errors(call, kSramErrors[type][counter], counter, &sram) == Return::success) {
    *out += sram;
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetMemoryErrorCounter(Handle device, std::uint32_t type, std::uint32_t counter,
                                                         std::uint32_t location, std::uint64_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMemoryErrorCounter, device)
  GPULSE_SIM_NEED(type < 2 && counter < 2 && location < 8)
  // Turing and newer count only for device memory and SRAM: they are the ones with SRAM keys.
  if (location == 2) {
    return count_errors(call, kDramErrors[type][counter], counter, out);
  }
  if (location == 7) {
    return count_errors(call, kSramErrors[type][counter], counter, out);
  }
  GPULSE_SIM_NEED(out != nullptr)
  for (const EccCount &count : call.device().ecc_counts) {
    if (count.location == location && count.type == type && count.counter == counter) {
      *out = count.errors;
      return Return::success;
    }
  }
  return Return::not_supported;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetSramEccErrorStatus(Handle device, SramEccErrorStatus *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetSramEccErrorStatus, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (!version_is(*out, 1)) {
    return Return::argument_version_mismatch;
  }
  const Return code = call.give(Key::ecc_sram_aggregate_uncorrected, &out->aggregate_uncorrected_sec_ded);
  if (code != Return::success) {
    return code;
  }
  const auto part = [&](Key key, std::uint64_t otherwise) {
    return call.target()[key].supported() ? call.get<std::uint64_t>(key) : otherwise;
  };
  out->aggregate_uncorrected_parity = part(Key::sram_parity_aggregate, 0);
  out->volatile_uncorrected_parity = part(Key::sram_parity_volatile, 0);
  out->aggregate_corrected = call.get<std::uint64_t>(Key::ecc_sram_aggregate_corrected);
  out->volatile_uncorrected_sec_ded = call.get<std::uint64_t>(Key::ecc_sram_volatile_uncorrected);
  out->volatile_corrected = call.get<std::uint64_t>(Key::ecc_sram_volatile_corrected);
  out->aggregate_l2 = part(Key::sram_in_l2, out->aggregate_uncorrected_sec_ded);
  out->aggregate_sm = part(Key::sram_in_sm, 0);
  out->aggregate_pcie = part(Key::sram_in_pcie, 0);
  out->aggregate_mcu = part(Key::sram_in_mcu, 0);
  out->aggregate_other = part(Key::sram_in_other, 0);
  out->threshold_exceeded = call.get<std::uint32_t>(Key::sram_threshold_exceeded);
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetRetiredPages(Handle device, std::uint32_t cause, std::uint32_t *count,
                                                   std::uint64_t *addresses) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetRetiredPages, device)
  return page_list(call, cause, count, addresses, nullptr);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetRetiredPages_v2(Handle device, std::uint32_t cause, std::uint32_t *count,
                                                      std::uint64_t *addresses, std::uint64_t *times) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetRetiredPages_v2, device)
  return page_list(call, cause, count, addresses, times);
}

GPULSE_SIM_NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, std::uint32_t, retired_pending, 1)

GPULSE_SIM_EXPORT Return nvmlDeviceGetRemappedRows(Handle device, std::uint32_t *corrected, std::uint32_t *uncorrected,
                                                   std::uint32_t *pending, std::uint32_t *failure) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetRemappedRows, device)
  GPULSE_SIM_NEED(corrected != nullptr && uncorrected != nullptr && pending != nullptr && failure != nullptr)
  const Return code = call.give(Key::remapped_corrected, corrected);
  if (code == Return::success) {
    *uncorrected = call.get<std::uint32_t>(Key::remapped_uncorrected);
    *pending = call.get<std::uint32_t>(Key::remapped_pending);
    *failure = call.get<std::uint32_t>(Key::remapped_failure);
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetRemappedRows_v2(Handle device, RemappedRowsV2 *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetRemappedRows_v2, device)
  GPULSE_SIM_NEED(out != nullptr)
  *out = {};
  const Return code = call.give(Key::remapped_corrected, &out->corrected_active);
  if (code == Return::success) {
    out->uncorrected_active = call.get<std::uint32_t>(Key::remapped_uncorrected);
    out->corrected_inactive = call.get<std::uint32_t>(Key::remapped_corrected_inactive);
    out->uncorrected_inactive = call.get<std::uint32_t>(Key::remapped_uncorrected_inactive);
    out->pending = call.get<std::uint32_t>(Key::remapped_pending);
    out->failure = call.get<std::uint32_t>(Key::remapped_failure);
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetRowRemapperHistogram(Handle device, RowRemapperHistogram *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetRowRemapperHistogram, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = call.give(Key::remap_max, &out->max);
  if (code == Return::success) {
    out->high = call.get<std::uint32_t>(Key::remap_high);
    out->partial = call.get<std::uint32_t>(Key::remap_partial);
    out->low = call.get<std::uint32_t>(Key::remap_low);
    out->none = call.get<std::uint32_t>(Key::remap_none);
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetRepairStatus(Handle device, RepairStatus *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetRepairStatus, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (!version_is(*out, 1)) {
    return Return::argument_version_mismatch;
  }
  const Return code = call.give(Key::repair_channel, &out->channel_pending);
  return code == Return::success ? call.give(Key::repair_tpc, &out->tpc_pending) : code;
}

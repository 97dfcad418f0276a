// SPDX-License-Identifier: Apache-2.0
// What clients ask for seldom: chips, boards, racks, fabrics, rare modes.
#include <array>
#include <cstdio>
#include <cstdlib>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::C2cModeInfo;
using gpulse::nvml::Capabilities;
using gpulse::nvml::DramEncryption;
using gpulse::nvml::FabricInfoV2;
using gpulse::nvml::FabricInfoV3;
using gpulse::nvml::Hostname;
using gpulse::nvml::Pdi;
using gpulse::nvml::PlatformInfo;
using gpulse::nvml::ProfileMask;
using gpulse::nvml::UnrepairableMemory;
using gpulse::nvml::version_word;
using gpulse::nvml::WorkloadProfiles;

namespace {

Return give_pair(const Call &call, Key first_key, std::uint32_t *first, Key second_key, std::uint32_t *second) {
  GPULSE_SIM_NEED(second != nullptr)
  const Return code = call.give(first_key, first);
  return code == Return::success ? call.give(second_key, second) : code;
}

// Pairs of hexadecimal digits, with anything in between; missing bytes are 0.
template <std::size_t N>
std::array<std::uint8_t, N> bytes_of(const TextValue &value) {
  std::array<std::uint8_t, N> bytes{};
  std::size_t next = 0;
  const std::string &text = value.text;
  for (std::size_t i = text.starts_with("0x") ? 2 : 0; i + 1 < text.size() && next < N;) {
    if (text[i] == '-') {
      ++i;
      continue;
    }
    bytes[next++] = static_cast<std::uint8_t>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16));
    i += 2;
  }
  return bytes;
}

template <class Info>
Return give_fabric(const Call &call, Info &info) {
  const Return code = call.give(Key::fabric_state, &info.state);
  if (code != Return::success) {
    return code;
  }
  info.cluster_uuid = bytes_of<16>(call.target()[Text::fabric_cluster]);
  info.status = call.get<std::uint32_t>(Key::fabric_status);
  info.clique = call.get<std::uint32_t>(Key::fabric_clique);
  info.health_mask = call.get<std::uint32_t>(Key::fabric_health);
  if constexpr (requires { info.health_summary; }) {
    info.health_summary = call.get<std::uint8_t>(Key::fabric_summary);
  }
  return Return::success;
}

ProfileMask mask_of(const Call &call, Key key) {
  const auto bits = call.get<std::uint64_t>(key);
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32U)};
}

}  // namespace

GPULSE_SIM_EXPORT Return nvmlDeviceGetAutoBoostedClocksEnabled(Handle device, std::uint32_t *now,
                                                               std::uint32_t *standard) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetAutoBoostedClocksEnabled, device)
  return give_pair(call, Key::auto_boost, now, Key::auto_boost_default, standard);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetGpuOperationMode(Handle device, std::uint32_t *current, std::uint32_t *pending) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGpuOperationMode, device)
  return give_pair(call, Key::operation_mode, current, Key::operation_mode_pending, pending);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetC2cModeInfoV(Handle device, C2cModeInfo *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetC2cModeInfoV, device)
  GPULSE_SIM_NEED(out != nullptr)
  return call.give(Key::c2c_mode, &out->enabled);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetCapabilities(Handle device, Capabilities *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetCapabilities, device)
  GPULSE_SIM_NEED(out != nullptr)
  return version_is(*out, 1) ? call.give(Key::capability_mask, &out->mask) : Return::argument_version_mismatch;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetDramEncryptionMode(Handle device, DramEncryption *current,
                                                         DramEncryption *pending) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetDramEncryptionMode, device)
  GPULSE_SIM_NEED(current != nullptr && pending != nullptr)
  if (!version_is(*current, 1) || !version_is(*pending, 1)) {
    return Return::argument_version_mismatch;
  }
  return give_pair(call, Key::dram_encryption, &current->state, Key::dram_encryption_pending, &pending->state);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetGpuFabricInfoV(Handle device, FabricInfoV3 *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGpuFabricInfoV, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (version_is(*out, 3)) {
    return give_fabric(call, *out);
  }
  if (out->version != version_word<FabricInfoV2>(2)) {
    return Return::argument_version_mismatch;
  }
  return give_fabric(call, *reinterpret_cast<FabricInfoV2 *>(out));
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetHostname_v1(Handle device, Hostname *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetHostname_v1, device)
  GPULSE_SIM_NEED(out != nullptr)
  return copy_text(call.target()[Text::hostname], out->text.data(), static_cast<std::uint32_t>(out->text.size()));
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetLastBBXFlushTime(Handle device, std::uint64_t *time_s,
                                                       unsigned long *duration_us) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetLastBBXFlushTime, device)
  const Return code = call.give(Key::flush_time_s, time_s);
  return code == Return::success ? call.give(Key::flush_duration_us, duration_us) : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetPdi(Handle device, Pdi *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPdi, device)
  GPULSE_SIM_NEED(out != nullptr)
  const TextValue &pdi = call.target()[Text::pdi];
  if (!version_is(*out, 1)) {
    return Return::argument_version_mismatch;
  }
  out->value = std::strtoull(pdi.text.c_str(), nullptr, 16);
  return pdi.code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetPlatformInfo(Handle device, PlatformInfo *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPlatformInfo, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (!version_is(*out, 1) && !version_is(*out, 2)) {
    return Return::argument_version_mismatch;
  }
  const Return code = call.give(Key::platform_slot, &out->slot);
  if (code != Return::success) {
    return code;
  }
  out->tray = call.get<std::uint8_t>(Key::platform_tray);
  out->host = call.get<std::uint8_t>(Key::platform_host);
  out->peer_type = call.get<std::uint8_t>(Key::platform_peer_type);
  out->module = call.get<std::uint8_t>(Key::platform_module);
  out->ib_guid = bytes_of<16>(call.target()[Text::platform_guid]);
  out->chassis_serial = {};
  const std::string &serial = call.target()[Text::platform_serial].text;
  std::copy_n(serial.begin(), std::min(serial.size(), out->chassis_serial.size() - 1), out->chassis_serial.begin());
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetUnrepairableMemoryFlag_v1(Handle device, UnrepairableMemory *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetUnrepairableMemoryFlag_v1, device)
  GPULSE_SIM_NEED(out != nullptr)
  return call.give(Key::memory_unrepairable, &out->flag);
}

GPULSE_SIM_EXPORT Return nvmlDeviceValidateInforom(Handle device) {
  GPULSE_SIM_BEGIN(nvmlDeviceValidateInforom, device)
  const Number &valid = call.target()[Key::inforom_valid];
  if (!valid.supported()) {
    return valid.code;
  }
  return call.at(valid) > 0 ? Return::success : Return::corrupted_inforom;
}

GPULSE_SIM_EXPORT Return nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(Handle device, WorkloadProfiles *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceWorkloadPowerProfileGetCurrentProfiles, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (!version_is(*out, 1)) {
    return Return::argument_version_mismatch;
  }
  const Return code = call.target()[Key::workload_requested].code;
  if (code == Return::success) {
    out->requested = mask_of(call, Key::workload_requested);
    out->enforced = mask_of(call, Key::workload_enforced);
  }
  return code;
}

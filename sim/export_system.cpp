// SPDX-License-Identifier: Apache-2.0
// Init, versions, enumeration.
#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::DriverBranch;
using gpulse::nvml::ExcludedInfo;

namespace {

// The real library clears megabytes of its variables when it starts. A program may interpose memset(), so this also
// checks that they are zero.
bool clear_variables() {
  static std::array<char, (3U << 20U) + 100> kept;
  const std::array spots{std::size_t{0}, kept.size() / 2, kept.size() - 1};
  volatile char *seen = kept.data();
  for (const auto spot : spots) seen[spot] = 1;
  std::memset(kept.data(), 0, kept.size());
  return std::none_of(spots.begin(), spots.end(), [&](std::size_t spot) { return seen[spot] != 0; });
}

Return begin_session(Fn fn) {
  const Call call(fn, Call::BeforeInit{});
  if (!clear_variables()) return Return::unknown;
  return call ? initialize() : call.result();
}

Return handle_of(const Call &call, std::uint32_t place, Handle *out) {
  const Device &device = call.scenario().devices[place];
  const double time = device.windowed ? now_s() : 0;
  for (const Span &lost : device.lost) {
    if (lost.holds(time)) {
      return Return::gpu_is_lost;
    }
  }
  *out = make_handle(place);
  return call.fault_on(place);
}

Return count_devices(const Call &call, std::uint32_t *out) {
  GPULSE_SIM_NEED(out != nullptr)
  static_cast<void>(call);
  *out = static_cast<std::uint32_t>(g_sim.order.load(std::memory_order_acquire)->size());
  return Return::success;
}

// Devices that are left out have no more than an address and a UUID, made up from their place in the list.
Return give_excluded(const Call &call, std::uint32_t index, ExcludedInfo *out) {
  GPULSE_SIM_NEED(out != nullptr && index < call.scenario().driver.excluded)
  *out = {};
  out->pci.bus = 0xA0 + index;
  std::snprintf(out->pci.bus_id.data(), out->pci.bus_id.size(), "%08X:%02X:00.0", 0U, out->pci.bus & 0xFFU);
  std::snprintf(out->uuid.data(), out->uuid.size(), "GPU-00000000-0000-0000-0000-%012u", index);
  return Return::success;
}

Return device_at(const Call &call, std::uint32_t index, Handle *out) {
  const std::vector<std::uint32_t> &order = *g_sim.order.load(std::memory_order_acquire);
  GPULSE_SIM_NEED(out != nullptr && index < order.size() && order[index] < call.scenario().devices.size())
  return handle_of(call, order[index], out);
}

template <class Match>
Return find_device(const Call &call, Handle *out, Match match) {
  for (const std::uint32_t place : *g_sim.order.load(std::memory_order_acquire)) {
    if (place < call.scenario().devices.size() && match(call.scenario().devices[place])) {
      return handle_of(call, place, out);
    }
  }
  return Return::not_found;
}

Return device_on_bus(const Call &call, const char *bus_id, Handle *out) {
  GPULSE_SIM_NEED(bus_id != nullptr && out != nullptr)
  PciAddress wanted;
  if (std::sscanf(bus_id, "%x:%x:%x", &wanted.domain, &wanted.bus, &wanted.device) != 3) {
    wanted.domain = 0;  // the short form leaves the domain out
    GPULSE_SIM_NEED(std::sscanf(bus_id, "%x:%x", &wanted.bus, &wanted.device) == 2)
  }
  return find_device(call, out, [&](const Device &device) {
    return device.pci.domain == wanted.domain && device.pci.bus == wanted.bus && device.pci.device == wanted.device;
  });
}

Return cuda_version(const Call &call, int *out) {
  GPULSE_SIM_NEED(out != nullptr)
  *out = call.scenario().driver.cuda;
  return Return::success;
}

std::string command_of(const Scenario &scenario, std::uint32_t pid) {
  for (const Device &device : scenario.devices) {
    for (const Process &process : device.processes) {
      if (process.pid == pid && !process.command.empty()) {
        return process.command;
      }
    }
  }
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::string command;
  std::getline(file, command, '\0');
  return command;
}

}  // namespace

GPULSE_SIM_EXPORT Return nvmlInit() { return begin_session(Fn::nvmlInit); }
GPULSE_SIM_EXPORT Return nvmlInit_v2() { return begin_session(Fn::nvmlInit_v2); }
GPULSE_SIM_EXPORT Return nvmlInitWithFlags(std::uint32_t) { return begin_session(Fn::nvmlInitWithFlags); }

GPULSE_SIM_EXPORT Return nvmlShutdown() {
  const Call call(Fn::nvmlShutdown, Call::BeforeInit{});
  return call ? shut_down() : call.result();
}

GPULSE_SIM_EXPORT const char *nvmlErrorString(std::uint32_t code) {
  static constexpr auto kTexts = std::to_array<const char *>({
      "Success",
      "Uninitialized",
      "Invalid Argument",
      "Not Supported",
      "Insufficient Permissions",
      "Already Initialized",
      "Not Found",
      "Insufficient Size",
      "Insufficient External Power",
      "Driver Not Loaded",
      "Timeout",
      "Interrupt Request Issue",
      "NVML Shared Library Not Found",
      "Function Not Found",
      "Corrupted infoROM",
      "GPU is lost",
      "GPU requires reset",
      "GPU access blocked by the operating system",
      "Driver/library version mismatch",
      "In use by another client",
      "Insufficient Memory",
      "No data",
      "ECC is not supported on vGPU",
      "Insufficient Resources",
      "Frequency Not Supported",
      "Argument version mismatch",
      "Requested functionality has been deprecated",
      "Not Ready",
      "No GPU was found",
      "Invalid State",
      "Reset type not supported",
  });
  return code < kTexts.size() ? kTexts[code] : "Unknown Error";
}

GPULSE_SIM_EXPORT Return nvmlSystemGetDriverVersion(char *buffer, std::uint32_t length) {
  GPULSE_SIM_BEGIN(nvmlSystemGetDriverVersion)
  return copy_text({Return::success, call.scenario().driver.version}, buffer, length);
}

GPULSE_SIM_EXPORT Return nvmlSystemGetNVMLVersion(char *buffer, std::uint32_t length) {
  GPULSE_SIM_BEGIN(nvmlSystemGetNVMLVersion)
  return copy_text({Return::success, call.scenario().driver.nvml_version}, buffer, length);
}

GPULSE_SIM_EXPORT Return nvmlSystemGetCudaDriverVersion(int *out) {
  GPULSE_SIM_BEGIN(nvmlSystemGetCudaDriverVersion)
  return cuda_version(call, out);
}

GPULSE_SIM_EXPORT Return nvmlSystemGetCudaDriverVersion_v2(int *out) {
  GPULSE_SIM_BEGIN(nvmlSystemGetCudaDriverVersion_v2)
  return cuda_version(call, out);
}

GPULSE_SIM_EXPORT Return nvmlSystemGetProcessName(std::uint32_t pid, char *buffer, std::uint32_t length) {
  GPULSE_SIM_BEGIN(nvmlSystemGetProcessName)
  GPULSE_SIM_NEED(buffer != nullptr && length > 0)
  std::string command = command_of(call.scenario(), pid);
  if (command.empty()) {
    return Return::not_found;
  }
  command.resize(std::min<std::size_t>(command.size(), length - 1));  // the real one truncates too
  return copy_text({Return::success, command}, buffer, length);
}

GPULSE_SIM_EXPORT Return nvmlSystemGetDriverBranch(DriverBranch *info, std::uint32_t length) {
  GPULSE_SIM_BEGIN(nvmlSystemGetDriverBranch)
  GPULSE_SIM_NEED(info != nullptr)
  if (!version_is(*info, 1)) {
    return Return::argument_version_mismatch;
  }
  const auto room = std::min<std::size_t>(length, info->text.size());
  return copy_text({Return::success, call.scenario().driver.branch}, info->text.data(),
                   static_cast<std::uint32_t>(room));
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetCount(std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetCount)
  return count_devices(call, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetCount_v2(std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetCount_v2)
  return count_devices(call, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetHandleByIndex(std::uint32_t index, Handle *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetHandleByIndex)
  return device_at(call, index, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetHandleByIndex_v2(std::uint32_t index, Handle *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetHandleByIndex_v2)
  return device_at(call, index, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetHandleByUUID(const char *uuid, Handle *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetHandleByUUID)
  GPULSE_SIM_NEED(uuid != nullptr && out != nullptr)
  for (const std::uint32_t place : *g_sim.order.load(std::memory_order_acquire)) {
    if (place >= call.scenario().devices.size()) {
      continue;
    }
    for (const MigInstance &instance : call.scenario().devices[place].mig) {
      if (instance[Text::uuid].text == uuid) {
        *out = make_handle(place, instance.slot + 1);
        return Return::success;
      }
    }
  }
  return find_device(call, out, [&](const Device &device) { return device[Text::uuid].text == uuid; });
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetHandleByPciBusId(const char *bus_id, Handle *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetHandleByPciBusId)
  return device_on_bus(call, bus_id, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, Handle *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetHandleByPciBusId_v2)
  return device_on_bus(call, bus_id, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetHandleBySerial(const char *serial, Handle *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetHandleBySerial)
  GPULSE_SIM_NEED(serial != nullptr && out != nullptr)
  return find_device(call, out, [&](const Device &device) {
    return device[Text::serial].code == Return::success && device[Text::serial].text == serial;
  });
}

GPULSE_SIM_EXPORT Return nvmlGetExcludedDeviceCount(std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlGetExcludedDeviceCount)
  GPULSE_SIM_NEED(out != nullptr)
  *out = call.scenario().driver.excluded;
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlGetBlacklistDeviceCount(std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlGetBlacklistDeviceCount)
  GPULSE_SIM_NEED(out != nullptr)
  *out = call.scenario().driver.excluded;
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlGetExcludedDeviceInfoByIndex(std::uint32_t index, ExcludedInfo *out) {
  GPULSE_SIM_BEGIN(nvmlGetExcludedDeviceInfoByIndex)
  return give_excluded(call, index, out);
}

GPULSE_SIM_EXPORT Return nvmlGetBlacklistDeviceInfoByIndex(std::uint32_t index, ExcludedInfo *out) {
  GPULSE_SIM_BEGIN(nvmlGetBlacklistDeviceInfoByIndex)
  return give_excluded(call, index, out);
}

// Functions of the real library that no client here calls.
#define GPULSE_SIM_STUB(name, since) \
  GPULSE_SIM_EXPORT Return name() {  \
    GPULSE_SIM_BEGIN(name)           \
    return Return::not_supported;    \
  }
GPULSE_SIM_STUBS(GPULSE_SIM_STUB)

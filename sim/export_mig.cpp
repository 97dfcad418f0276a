// SPDX-License-Identifier: Apache-2.0
// MIG instances, virtualization and confidential computing.
#include <cstring>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::ConfComputeMemSize;
using gpulse::nvml::ConfComputeState;
using gpulse::nvml::DeviceAttributes;
using gpulse::nvml::Memory;

namespace {

Return attributes(const Call &call, DeviceAttributes &out) {
  if (call.mig() == nullptr) {
    return Return::invalid_argument;
  }
  const auto count = [&](Key key) { return call.get<std::uint32_t>(key); };
  out = {.multiprocessors = count(Key::mig_sms),
         .copy_engines = count(Key::mig_copy_engines),
         .decoders = count(Key::mig_decoders),
         .encoders = count(Key::mig_encoders),
         .jpegs = count(Key::mig_jpegs),
         .ofas = count(Key::mig_ofas),
         .gpu_instance_slices = count(Key::mig_gpu_slices),
         .compute_instance_slices = count(Key::mig_compute_slices),
         .memory_mib = call.get<std::uint64_t>(Key::memory_total_mib)};
  return Return::success;
}

}  // namespace

GPULSE_SIM_EXPORT Return nvmlDeviceGetMigMode(Handle device, std::uint32_t *current, std::uint32_t *pending) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMigMode, device)
  const Settings &settings = *call.device().settings;
  const Return code = call.give_setting(settings.mig_mode, Key::mig_mode, current);
  return code == Return::success ? call.give_setting(settings.mig_pending, Key::mig_pending, pending) : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetMaxMigDeviceCount(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMaxMigDeviceCount, device)
  GPULSE_SIM_NEED(out != nullptr)
  *out = 0;  // a GPU that cannot split says none, not "not supported"
  static_cast<void>(call.give(Key::mig_max, out));
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetMigDeviceHandleByIndex(Handle device, std::uint32_t index, Handle *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMigDeviceHandleByIndex, device)
  GPULSE_SIM_NEED(out != nullptr && call.mig() == nullptr)
  if (!call.target()[Key::mig_mode].supported()) {
    return Return::not_supported;
  }
  const auto &instances = call.device().mig;
  if (std::ranges::find(instances, index, &MigInstance::slot) == instances.end()) {
    return Return::not_found;
  }
  *out = make_handle(call.place(), index + 1);
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceIsMigDeviceHandle(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceIsMigDeviceHandle, device)
  GPULSE_SIM_NEED(out != nullptr)
  *out = call.mig() != nullptr ? 1 : 0;
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Handle device, Handle *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, device)
  GPULSE_SIM_NEED(out != nullptr && call.mig() != nullptr)
  *out = make_handle(call.place());
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetGpuInstanceId(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetGpuInstanceId, device)
  GPULSE_SIM_NEED(out != nullptr && call.mig() != nullptr)
  *out = call.mig()->gpu_instance;
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetComputeInstanceId(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetComputeInstanceId, device)
  GPULSE_SIM_NEED(out != nullptr && call.mig() != nullptr)
  *out = call.mig()->compute_instance;
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetAttributes(Handle device, void *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetAttributes, device)
  GPULSE_SIM_NEED(out != nullptr)
  DeviceAttributes full{};
  const Return code = attributes(call, full);
  constexpr std::size_t kFirstGeneration = 24;  // the first six counts only
  std::memcpy(out, &full, kFirstGeneration);
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetAttributes_v2(Handle device, DeviceAttributes *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetAttributes_v2, device)
  GPULSE_SIM_NEED(out != nullptr)
  return attributes(call, *out);
}

GPULSE_SIM_NUMBER(nvmlDeviceGetVirtualizationMode, std::uint32_t, virtualization_mode, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetHostVgpuMode, std::uint32_t, host_vgpu_mode, 1)

GPULSE_SIM_EXPORT Return nvmlSystemGetConfComputeState(ConfComputeState *out) {
  GPULSE_SIM_BEGIN(nvmlSystemGetConfComputeState)
  GPULSE_SIM_NEED(out != nullptr)
  const Driver &driver = call.scenario().driver;
  *out = {
      .environment = driver.cc_environment, .feature = driver.cc_feature, .developer_tools = driver.cc_developer_tools};
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetConfComputeMemSizeInfo(Handle device, ConfComputeMemSize *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetConfComputeMemSizeInfo, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = call.give(Key::protected_total_mib, &out->protected_kib, 1024);
  return code == Return::success ? call.give(Key::unprotected_total_mib, &out->unprotected_kib, 1024) : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetConfComputeProtectedMemoryUsage(Handle device, Memory *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetConfComputeProtectedMemoryUsage, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = call.give(Key::protected_total_mib, &out->total, kMib);
  if (code == Return::success) {
    out->used = call.get<std::uint64_t>(Key::protected_used_mib, kMib);
    out->free = out->total - std::min(out->used, out->total);
  }
  return code;
}

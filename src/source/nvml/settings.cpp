// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/settings.hpp"

#include <cmath>

#include "source/nvml/code.hpp"
#include "source/nvml/library.hpp"

namespace gpulse::nvml {

namespace {

using U32 = Api::U32;

// Apart from the Api: whoever only reads does not look for them.
struct Setters {
  explicit Setters(Resolver &resolver)
      : handle_by_uuid(resolver, "nvmlDeviceGetHandleByUUID"),
        persistence_mode(resolver, "nvmlDeviceSetPersistenceMode"),
        compute_mode(resolver, "nvmlDeviceSetComputeMode"),
        power_limit(resolver, "nvmlDeviceSetPowerManagementLimit"),
        lock_graphics(resolver, "nvmlDeviceSetGpuLockedClocks"),
        unlock_graphics(resolver, "nvmlDeviceResetGpuLockedClocks"),
        lock_memory(resolver, "nvmlDeviceSetMemoryLockedClocks"),
        unlock_memory(resolver, "nvmlDeviceResetMemoryLockedClocks"),
        ecc_mode(resolver, "nvmlDeviceSetEccMode") {}

  Function<Return(const char *, Handle *)> handle_by_uuid;
  Function<Return(Handle, U32)> persistence_mode, compute_mode, power_limit;
  Function<Return(Handle, U32, U32)> lock_graphics;
  Function<Return(Handle)> unlock_graphics;
  Function<Return(Handle, U32, U32)> lock_memory;
  Function<Return(Handle)> unlock_memory;
  Function<Return(Handle, U32)> ecc_mode;
};

Return set_power_limit(const Api &api, const Setters &setters, Handle device, const Setting &setting) {
  constexpr double kMilliwatts = 1e3;
  auto limit_mw = static_cast<U32>(std::lround(setting.low * kMilliwatts));
  if (setting.to_default) {
    if (const auto code = api.power_limit_default(device, &limit_mw); code != Return::success) return code;
  }
  return setters.power_limit(device, limit_mw);
}

Return apply(const Api &api, const Setters &setters, Handle device, const Setting &setting) {
  const auto low = static_cast<U32>(setting.low), high = static_cast<U32>(setting.high);
  switch (setting.kind) {
    case SettingKind::persistence:
      return setters.persistence_mode(device, low);
    case SettingKind::compute_mode:
      return setters.compute_mode(device, low);
    case SettingKind::power_limit:
      return set_power_limit(api, setters, device, setting);
    case SettingKind::graphics_clocks:
      return setting.to_default ? setters.unlock_graphics(device) : setters.lock_graphics(device, low, high);
    case SettingKind::memory_clocks:
      return setting.to_default ? setters.unlock_memory(device) : setters.lock_memory(device, low, high);
    case SettingKind::ecc:
      return setters.ecc_mode(device, low);
    case SettingKind::reset:
      break;
  }
  return Return::not_supported;
}

SettingResult result_of(Return code) {
  if (code == Return::success) return {};
  // A function that an old driver lacks is one that the device cannot be set by.
  if (code == Return::function_not_found) code = Return::not_supported;
  return setting_refused(static_cast<std::uint16_t>(code), std::string(code_text(code)));
}

}  // namespace

SettingResult set(const Sysroot & /*root*/, const DeviceIdentity &device, const Setting &setting) {
  const auto api = load_library();
  if (!api) return setting_refused(static_cast<std::uint16_t>(Return::library_not_found), api.error().what);
  auto code = (*api)->init_v2();
  if (try_older(code)) {
    if (const auto older = (*api)->init(); older != Return::function_not_found) code = older;
  }
  if (code != Return::success && code != Return::already_initialized) return result_of(code);
  const Setters setters((*api)->resolver);
  Handle handle = nullptr;
  auto done = setters.handle_by_uuid(device.uuid.c_str(), &handle);
  if (done == Return::success) done = apply(**api, setters, handle, setting);
  (*api)->shutdown();
  return result_of(done);
}

}  // namespace gpulse::nvml

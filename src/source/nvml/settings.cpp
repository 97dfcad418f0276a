// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "source/nvml/code.hpp"
#include "source/nvml/library.hpp"

namespace gpulse::nvml {

namespace {

using U32 = Api::U32;

// How one setting is changed: `apply` makes the call, with NVML's functions by name. They are not part of the Api, so
// that programs that only read never look them up.
struct Setter {
  SettingKind kind;
  Return (*apply)(Api &, const Setter &, Handle, const Setting &);
  const char *set;
  const char *reset = nullptr;
};

Return set_mode(Api &api, const Setter &setter, Handle device, const Setting &setting) {
  const Function<Return(Handle, U32)> set(api.resolver, setter.set);
  return set(device, static_cast<U32>(setting.low));
}

Return set_power_limit(Api &api, const Setter &setter, Handle device, const Setting &setting) {
  constexpr double kMilliwatts = 1e3;
  auto limit_mw = static_cast<U32>(std::lround(setting.low * kMilliwatts));
  if (setting.to_default) {
    if (const auto code = api.power_limit_default(device, &limit_mw); code != Return::success) return code;
  }
  const Function<Return(Handle, U32)> set(api.resolver, setter.set);
  return set(device, limit_mw);
}

Return lock_clocks(Api &api, const Setter &setter, Handle device, const Setting &setting) {
  if (setting.to_default) return Function<Return(Handle)>(api.resolver, setter.reset)(device);
  const Function<Return(Handle, U32, U32)> lock(api.resolver, setter.set);
  return lock(device, static_cast<U32>(setting.low), static_cast<U32>(setting.high));
}

constexpr std::array kSetters{
    Setter{SettingKind::persistence, set_mode, "nvmlDeviceSetPersistenceMode"},
    Setter{SettingKind::compute_mode, set_mode, "nvmlDeviceSetComputeMode"},
    Setter{SettingKind::power_limit, set_power_limit, "nvmlDeviceSetPowerManagementLimit"},
    Setter{SettingKind::graphics_clocks, lock_clocks, "nvmlDeviceSetGpuLockedClocks", "nvmlDeviceResetGpuLockedClocks"},
    Setter{SettingKind::memory_clocks, lock_clocks, "nvmlDeviceSetMemoryLockedClocks",
           "nvmlDeviceResetMemoryLockedClocks"},
    Setter{SettingKind::ecc, set_mode, "nvmlDeviceSetEccMode"},
};

Return apply(Api &api, const DeviceIdentity &device, const Setting &setting) {
  const auto setter =
      std::find_if(kSetters.begin(), kSetters.end(), [&](const Setter &one) { return one.kind == setting.kind; });
  if (setter == kSetters.end()) return Return::not_supported;
  const Function<Return(const char *, Handle *)> handle_by_uuid(api.resolver, "nvmlDeviceGetHandleByUUID");
  Handle handle = nullptr;
  if (const auto code = handle_by_uuid(device.uuid.str().c_str(), &handle); code != Return::success) return code;
  return setter->apply(api, *setter, handle, setting);
}

SettingFailure failure_of(Return code) {
  switch (code) {
    case Return::invalid_argument:
      return SettingFailure::invalid;
    case Return::not_supported:
      return SettingFailure::not_supported;
    case Return::no_permission:
      return SettingFailure::no_permission;
    case Return::in_use:
      return SettingFailure::in_use;
    default:
      return SettingFailure::failed;
  }
}

SettingResult result_of(Return code) {
  if (code == Return::success) return {};
  // An old driver that lacks the function does not support the setting.
  if (code == Return::function_not_found) code = Return::not_supported;
  return setting_failed(failure_of(code), std::string(code_text(code)), static_cast<std::uint16_t>(code));
}

}  // namespace

SettingResult set(const Sysroot & /*root*/, const DeviceIdentity &device, const Setting &setting) {
  const auto api = load_library();
  if (!api) {
    return setting_failed(SettingFailure::failed, api.error().what,
                          static_cast<std::uint16_t>(Return::library_not_found));
  }
  auto code = (*api)->init_v2();
  if (try_older(code)) {
    if (const auto older = (*api)->init(); older != Return::function_not_found) code = older;
  }
  if (code != Return::success && code != Return::already_initialized) return result_of(code);
  const auto done = apply(**api, device, setting);
  (*api)->shutdown();
  return result_of(done);
}

}  // namespace gpulse::nvml

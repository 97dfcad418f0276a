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

struct Answer {
  Return code = Return::success;
  Return waits = Return::success;  // why a change that was made is not yet in effect
  Answer(Return answer) : code(answer) {}
};

// How one setting is changed: `apply` makes the call, with NVML's functions by name. They are not part of the Api, so
// that programs that only read never look them up.
struct Setter {
  SettingKind kind;
  Answer (*apply)(Api &, const Setter &, Handle, const Setting &);
  const char *set;
  const char *reset = nullptr;
};

Answer set_mode(Api &api, const Setter &setter, Handle device, const Setting &setting) {
  const Function<Return(Handle, U32)> set(api.resolver, setter.set);
  return set(device, static_cast<U32>(setting.low));
}

Answer set_power_limit(Api &api, const Setter &setter, Handle device, const Setting &setting) {
  constexpr double kMilliwatts = 1e3;
  auto limit_mw = static_cast<U32>(std::lround(setting.low * kMilliwatts));
  if (setting.to_default) {
    if (const auto code = api.power_limit_default(device, &limit_mw); code != Return::success) return code;
  }
  const Function<Return(Handle, U32)> set(api.resolver, setter.set);
  return set(device, limit_mw);
}

Answer lock_clocks(Api &api, const Setter &setter, Handle device, const Setting &setting) {
  if (setting.to_default) return Function<Return(Handle)>(api.resolver, setter.reset)(device);
  const Function<Return(Handle, U32, U32)> lock(api.resolver, setter.set);
  return lock(device, static_cast<U32>(setting.low), static_cast<U32>(setting.high));
}

Answer set_mig_mode(Api &api, const Setter &setter, Handle device, const Setting &setting) {
  auto activation = Return::success;
  const Function<Return(Handle, U32, Return *)> set(api.resolver, setter.set);
  Answer answer = set(device, static_cast<U32>(setting.low), &activation);
  answer.waits = activation;
  return answer;
}

Answer set_target_temperature(Api &api, const Setter &setter, Handle device, const Setting &setting) {
  constexpr U32 kTarget = 5;
  auto celsius = static_cast<int>(std::lround(setting.low));
  const Function<Return(Handle, U32, int *)> set(api.resolver, setter.set);
  return set(device, kTarget, &celsius);
}

Answer clear(Api &api, const Setter &setter, Handle device, const Setting &) {
  return Function<Return(Handle)>(api.resolver, setter.set)(device);
}

constexpr std::array kSetters{
    Setter{SettingKind::persistence, set_mode, "nvmlDeviceSetPersistenceMode"},
    Setter{SettingKind::compute_mode, set_mode, "nvmlDeviceSetComputeMode"},
    Setter{SettingKind::power_limit, set_power_limit, "nvmlDeviceSetPowerManagementLimit"},
    Setter{SettingKind::graphics_clocks, lock_clocks, "nvmlDeviceSetGpuLockedClocks", "nvmlDeviceResetGpuLockedClocks"},
    Setter{SettingKind::memory_clocks, lock_clocks, "nvmlDeviceSetMemoryLockedClocks",
           "nvmlDeviceResetMemoryLockedClocks"},
    Setter{SettingKind::application_clocks, lock_clocks, "nvmlDeviceSetApplicationsClocks",
           "nvmlDeviceResetApplicationsClocks"},
    Setter{SettingKind::target_temperature, set_target_temperature, "nvmlDeviceSetTemperatureThreshold"},
    Setter{SettingKind::ecc, set_mode, "nvmlDeviceSetEccMode"},
    Setter{SettingKind::mig, set_mig_mode, "nvmlDeviceSetMigMode"},
    Setter{SettingKind::accounting, set_mode, "nvmlDeviceSetAccountingMode"},
    Setter{SettingKind::ecc_errors, set_mode, "nvmlDeviceClearEccErrorCounts"},
    Setter{SettingKind::accounted_processes, clear, "nvmlDeviceClearAccountingPids"},
};

Answer apply(Api &api, const DeviceIdentity &device, const Setting &setting) {
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

SettingError error_of(Return code) {
  return {failure_of(code), std::string(code_text(code)), static_cast<std::uint16_t>(code)};
}

SettingResult result_of(const Answer &answer) {
  if (answer.code == Return::success) {
    return answer.waits == Return::success ? SettingDone{} : SettingDone{.waits = error_of(answer.waits)};
  }
  // An old driver that lacks the function does not support the setting.
  const bool lacks = answer.code == Return::function_not_found;
  return std::unexpected(error_of(lacks ? Return::not_supported : answer.code));
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

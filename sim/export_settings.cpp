// SPDX-License-Identifier: Apache-2.0
// The setters. What they change the getters show from then on, until the process ends.
#include "export.hpp"

using namespace gpulse::sim;

namespace {

Return set(const Call &call, Key key, std::atomic<double> &setting, double value) {
  if (!call.may_manage()) {
    return Return::no_permission;
  }
  if (call.target()[key].code != Return::success) {
    return call.target()[key].code;
  }
  setting.store(value, std::memory_order_relaxed);
  return Return::success;
}

}  // namespace

GPULSE_SIM_EXPORT Return nvmlDeviceSetPersistenceMode(Handle device, std::uint32_t mode) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetPersistenceMode, device)
  GPULSE_SIM_NEED(mode <= 1)
  return set(call, Key::persistence, call.device().settings->persistence, mode);
}

GPULSE_SIM_EXPORT Return nvmlDeviceSetComputeMode(Handle device, std::uint32_t mode) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetComputeMode, device)
  GPULSE_SIM_NEED(mode <= 3 && mode != 1)
  return set(call, Key::compute_mode, call.device().settings->compute_mode, mode);
}

GPULSE_SIM_EXPORT Return nvmlDeviceSetPowerManagementLimit(Handle device, std::uint32_t limit_mw) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetPowerManagementLimit, device)
  const double watts = limit_mw / 1000.0;
  const bool bounded = call.target()[Key::power_min_w].supported();
  GPULSE_SIM_NEED(!bounded || (watts >= call.at(Key::power_min_w) && watts <= call.at(Key::power_max_w)))
  return set(call, Key::power_limit_w, call.device().settings->power_limit_w, watts);
}

GPULSE_SIM_EXPORT Return nvmlDeviceSetGpuLockedClocks(Handle device, std::uint32_t low, std::uint32_t high) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetGpuLockedClocks, device)
  GPULSE_SIM_NEED(low <= high)
  return set(call, Key::clock_graphics, call.device().settings->graphics_clock_max, high);
}

GPULSE_SIM_EXPORT Return nvmlDeviceResetGpuLockedClocks(Handle device) {
  GPULSE_SIM_BEGIN(nvmlDeviceResetGpuLockedClocks, device)
  return set(call, Key::clock_graphics, call.device().settings->graphics_clock_max, Settings::kUnset);
}

GPULSE_SIM_EXPORT Return nvmlDeviceSetMemoryLockedClocks(Handle device, std::uint32_t low, std::uint32_t high) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetMemoryLockedClocks, device)
  GPULSE_SIM_NEED(low <= high)
  return set(call, Key::clock_memory, call.device().settings->memory_clock_max, high);
}

GPULSE_SIM_EXPORT Return nvmlDeviceResetMemoryLockedClocks(Handle device) {
  GPULSE_SIM_BEGIN(nvmlDeviceResetMemoryLockedClocks, device)
  return set(call, Key::clock_memory, call.device().settings->memory_clock_max, Settings::kUnset);
}

GPULSE_SIM_EXPORT Return nvmlDeviceSetEccMode(Handle device, std::uint32_t mode) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetEccMode, device)
  GPULSE_SIM_NEED(mode <= 1)
  return set(call, Key::ecc_pending, call.device().settings->ecc_pending, mode);
}

GPULSE_SIM_EXPORT Return nvmlDeviceSetMigMode(Handle device, std::uint32_t mode, Return *activation) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetMigMode, device)
  GPULSE_SIM_NEED(mode <= 1 && activation != nullptr)
  const Number &refusal = call.target()[Key::mig_activation];
  *activation = refusal.supported() ? static_cast<Return>(refusal.constant) : Return::success;
  Settings &settings = *call.device().settings;
  const Return code = set(call, Key::mig_mode, settings.mig_pending, mode);
  return code == Return::success && *activation == Return::success ? set(call, Key::mig_mode, settings.mig_mode, mode)
                                                                   : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceSetAccountingMode(Handle device, std::uint32_t mode) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetAccountingMode, device)
  GPULSE_SIM_NEED(mode <= 1)
  return set(call, Key::accounting_mode, call.device().settings->accounting, mode);
}

GPULSE_SIM_EXPORT Return nvmlDeviceClearAccountingPids(Handle device) {
  GPULSE_SIM_BEGIN(nvmlDeviceClearAccountingPids, device)
  return set(call, Key::accounting_mode, call.device().settings->accounted_cleared, 1);
}

GPULSE_SIM_EXPORT Return nvmlDeviceClearEccErrorCounts(Handle device, std::uint32_t counter) {
  GPULSE_SIM_BEGIN(nvmlDeviceClearEccErrorCounts, device)
  GPULSE_SIM_NEED(counter < 2)
  return set(call, Key::ecc_mode, call.device().settings->ecc_cleared[counter], 1);
}

GPULSE_SIM_EXPORT Return nvmlDeviceSetApplicationsClocks(Handle device, std::uint32_t memory, std::uint32_t graphics) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetApplicationsClocks, device)
  const Device &one = call.device();
  const auto lists = [](const std::vector<std::uint32_t> &all, std::uint32_t clock) {
    return all.empty() || std::ranges::find(all, clock) != all.end();
  };
  GPULSE_SIM_NEED(lists(one.memory_clocks, memory) && lists(one.graphics_clocks, graphics))
  const Return code = set(call, Key::app_clock_memory, one.settings->app_clock_memory, memory);
  return code == Return::success ? set(call, Key::app_clock_graphics, one.settings->app_clock_graphics, graphics)
                                 : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceResetApplicationsClocks(Handle device) {
  GPULSE_SIM_BEGIN(nvmlDeviceResetApplicationsClocks, device)
  Settings &settings = *call.device().settings;
  const Return code = set(call, Key::app_clock_memory, settings.app_clock_memory, Settings::kUnset);
  return code == Return::success ? set(call, Key::app_clock_graphics, settings.app_clock_graphics, Settings::kUnset)
                                 : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceSetTemperatureThreshold(Handle device, std::uint32_t type, int *celsius) {
  GPULSE_SIM_BEGIN(nvmlDeviceSetTemperatureThreshold, device)
  constexpr std::uint32_t kTarget = 5;
  GPULSE_SIM_NEED(celsius != nullptr && type == kTarget)
  // The driver looks at the board before it looks at the user.
  if (const Return code = call.target()[Key::threshold_acoustic_current].code; code != Return::success) {
    return code;
  }
  const bool bounded = call.target()[Key::threshold_acoustic_min].supported();
  GPULSE_SIM_NEED(!bounded || (*celsius >= call.at(Key::threshold_acoustic_min) &&
                               *celsius <= call.at(Key::threshold_acoustic_max)))
  return set(call, Key::threshold_acoustic_current, call.device().settings->target_temperature, *celsius);
}

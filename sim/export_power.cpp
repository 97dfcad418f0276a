// SPDX-License-Identifier: Apache-2.0
// Power, energy, temperature and fans.
#include <array>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::FanSpeedInfo;
using gpulse::nvml::MarginTemperature;
using gpulse::nvml::TemperatureReading;
using gpulse::nvml::ThermalSettings;

namespace {

Return power_limit(const Call &call, Key key, std::uint32_t *out) {
  const Return code = call.give(key, out, 1000);
  const double set = call.device().settings->power_limit_w.load(std::memory_order_relaxed);
  if (code == Return::success && !std::isnan(set)) {
    *out = static_cast<std::uint32_t>(std::lround(set * 1000));
  }
  return code;
}

Return fan(const Call &call, std::uint32_t index, Key key, std::uint32_t *out) {
  const Number &fans = call.target()[Key::fans];
  if (!fans.supported() || fans.constant < 1) {
    return Return::not_supported;
  }
  GPULSE_SIM_NEED(index < static_cast<std::uint32_t>(fans.constant))
  return call.give(key, out);
}

}  // namespace

GPULSE_SIM_NUMBER(nvmlDeviceGetPowerUsage, std::uint32_t, power_w, 1000)
GPULSE_SIM_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, std::uint32_t, power_default_w, 1000)
GPULSE_SIM_NUMBER(nvmlDeviceGetNumFans, std::uint32_t, fans, 1)

GPULSE_SIM_EXPORT Return nvmlDeviceGetPowerManagementMode(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPowerManagementMode, device)
  GPULSE_SIM_NEED(out != nullptr)
  *out = 1;
  return call.target()[Key::power_limit_w].code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetPowerManagementLimit(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPowerManagementLimit, device)
  return power_limit(call, Key::power_limit_w, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetEnforcedPowerLimit(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetEnforcedPowerLimit, device)
  return power_limit(call, Key::power_enforced_w, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetPowerManagementLimitConstraints(Handle device, std::uint32_t *low,
                                                                      std::uint32_t *high) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetPowerManagementLimitConstraints, device)
  const Return code = call.give(Key::power_min_w, low, 1000);
  return code == Return::success ? call.give(Key::power_max_w, high, 1000) : code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetTotalEnergyConsumption(Handle device, std::uint64_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetTotalEnergyConsumption, device)
  const Return code = call.give(Key::energy_mj, out);
  if (code == Return::success) {
    *out += static_cast<std::uint64_t>(call.target()[Key::power_w].integral(call.now()) * 1000);
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetTemperature(Handle device, std::uint32_t sensor, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetTemperature, device)
  GPULSE_SIM_NEED(sensor == 0)
  return call.give(Key::temperature, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetTemperatureV(Handle device, TemperatureReading *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetTemperatureV, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (!version_is(*out, 1)) {
    return Return::argument_version_mismatch;
  }
  GPULSE_SIM_NEED(out->sensor == 0)
  return call.give(Key::temperature, &out->celsius);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetTemperatureThreshold(Handle device, std::uint32_t type, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetTemperatureThreshold, device)
  constexpr std::array kTypes{Key::threshold_shutdown,    Key::threshold_slowdown,     Key::threshold_memory_max,
                              Key::threshold_gpu_max,     Key::threshold_acoustic_min, Key::threshold_acoustic_current,
                              Key::threshold_acoustic_max};
  if (type == kTypes.size()) {
    return Return::not_supported;
  }
  GPULSE_SIM_NEED(type < kTypes.size())
  if (kTypes[type] == Key::threshold_acoustic_current) {
    return call.give_setting(call.device().settings->target_temperature, kTypes[type], out);
  }
  return call.give(kTypes[type], out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetMarginTemperature(Handle device, MarginTemperature *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMarginTemperature, device)
  GPULSE_SIM_NEED(out != nullptr)
  return version_is(*out, 1) ? call.give(Key::margin_temperature, &out->celsius) : Return::argument_version_mismatch;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetThermalSettings(Handle device, std::uint32_t sensor, ThermalSettings *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetThermalSettings, device)
  constexpr std::uint32_t kAllSensors = 15;
  GPULSE_SIM_NEED(out != nullptr && (sensor == 0 || sensor == kAllSensors))
  *out = {};
  out->count = 1;
  out->sensors[0] = {.controller = 1, .min_celsius = 0, .max_celsius = 127, .celsius = 0, .target = 1};
  return call.give(Key::temperature, &out->sensors[0].celsius);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetFanSpeed(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetFanSpeed, device)
  return fan(call, 0, Key::fan_speed, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetFanSpeed_v2(Handle device, std::uint32_t index, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetFanSpeed_v2, device)
  return fan(call, index, Key::fan_speed, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetFanSpeedRPM(Handle device, FanSpeedInfo *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetFanSpeedRPM, device)
  GPULSE_SIM_NEED(out != nullptr)
  return version_is(*out, 1) ? fan(call, out->fan, Key::fan_rpm, &out->rpm) : Return::argument_version_mismatch;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetTargetFanSpeed(Handle device, std::uint32_t index, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetTargetFanSpeed, device)
  return fan(call, index, Key::fan_target, out);
}

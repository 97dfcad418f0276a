// SPDX-License-Identifier: Apache-2.0
// Memory, utilization, samples and clocks.
#include <array>
#include <span>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::Bar1Memory;
using gpulse::nvml::DynamicPstatesInfo;
using gpulse::nvml::Memory;
using gpulse::nvml::MemoryV2;
using gpulse::nvml::Sample;
using gpulse::nvml::Utilization;
using gpulse::nvml::ValueType;
using gpulse::nvml::ViolationTime;

namespace {

constexpr std::uint32_t kUtilizationPeriodUs = 200000;

struct Ring {
  Key own;  // what the buffer holds, if it is not the same as:
  Key key;
  double scale, period_s;
  std::uint32_t length;
};

// By sampling type: on an H200 power keeps 119 samples of 20 ms, utilization 71 of 200 ms.
constexpr auto kRings = std::to_array<Ring>({{Key::sample_power_w, Key::power_w, 1000, 0.02, 119},
                                             {Key::sample_gpu_util, Key::gpu_util, 1, 0.2, 71},
                                             {Key::sample_memory_util, Key::memory_util, 1, 0.2, 71},
                                             {Key::encoder_util, Key::encoder_util, 1, 0.2, 71},
                                             {Key::decoder_util, Key::decoder_util, 1, 0.2, 71},
                                             {Key::sample_clock_sm, Key::sample_clock_sm, 1, 0.2, 71},
                                             {Key::sample_clock_memory, Key::sample_clock_memory, 1, 0.2, 71},
                                             {Key::module_power_w, Key::module_power_w, 1000, 0.02, 119},
                                             {Key::jpeg_util, Key::jpeg_util, 1, 0.2, 71},
                                             {Key::ofa_util, Key::ofa_util, 1, 0.2, 71}});

Return newest_samples(const Number &number, const Ring &ring, std::uint64_t last_seen_us, std::span<Sample> out,
                      std::uint32_t &count) {
  const double newest = std::floor(now_s() / ring.period_s);
  const std::uint64_t newest_us = wall_us(newest * ring.period_s);
  const double unseen_us = newest_us > last_seen_us ? static_cast<double>(newest_us - last_seen_us) : 0;
  const double unseen = std::min<double>(ring.length, std::floor(unseen_us / (ring.period_s * 1e6)) + 1);
  count = 0;
  for (auto i = ring.length - static_cast<std::uint32_t>(unseen); i < ring.length && count < out.size(); ++i) {
    const double time = (newest - (ring.length - 1 - i)) * ring.period_s;
    const std::uint64_t stamp = wall_us(time);
    if (stamp > last_seen_us) {
      // Before the scenario starts, its first value applies.
      const double value = number.at(std::max(time, 0.0)) * ring.scale;
      out[count].time_us = stamp;
      out[count].value.u64 = static_cast<std::uint64_t>(std::llround(value));
      ++count;
    }
  }
  return count == 0 ? Return::not_found : Return::success;
}

Return engine(const Call &call, Key key, std::uint32_t *out, std::uint32_t *period_us) {
  GPULSE_SIM_NEED(period_us != nullptr)
  *period_us = kUtilizationPeriodUs;
  return call.give(key, out);
}

double memory_bytes(const Call &call, Key key) {
  const Number &number = call.target()[key];
  return number.supported() ? std::round(call.at(number) * kMib) : 0;
}

Return give_clock(const Call &call, std::span<const Key> keys, std::uint32_t type, std::uint32_t *out) {
  GPULSE_SIM_NEED(type < keys.size())
  return call.give(keys[type], out);
}

constexpr std::array kClocks{Key::clock_graphics, Key::clock_sm, Key::clock_memory, Key::clock_video};
constexpr std::array kMaxClocks{Key::max_clock_graphics, Key::max_clock_sm, Key::max_clock_memory,
                                Key::max_clock_video};
constexpr std::array kAppClocks{Key::app_clock_graphics, Key::app_clock_graphics, Key::app_clock_memory};
constexpr std::array kDefaultClocks{Key::default_clock_graphics, Key::default_clock_graphics,
                                    Key::default_clock_memory};
constexpr std::array kBoostClocks{Key::boost_clock_graphics, Key::boost_clock_graphics, Key::boost_clock_memory};

Return application_clock(const Call &call, std::uint32_t type, std::uint32_t *out) {
  GPULSE_SIM_NEED(type < kAppClocks.size())
  const Settings &settings = *call.device().settings;
  return call.give_setting(type == 2 ? settings.app_clock_memory : settings.app_clock_graphics, kAppClocks[type], out);
}

// The current clock, limited by locked clocks.
Return current_clock(const Call &call, std::uint32_t type, std::uint32_t *out) {
  const Return code = give_clock(call, kClocks, type, out);
  const Settings &settings = *call.device().settings;
  const double limit =
      (type == 2 ? settings.memory_clock_max : settings.graphics_clock_max).load(std::memory_order_relaxed);
  if (code == Return::success && !std::isnan(limit) && type != 3) {
    *out = std::min(*out, static_cast<std::uint32_t>(limit));
  }
  return code;
}

Return list_clocks(const std::vector<std::uint32_t> &clocks, std::uint32_t *count, std::uint32_t *out) {
  GPULSE_SIM_NEED(count != nullptr)
  if (clocks.empty()) {
    return Return::not_supported;
  }
  const auto room = static_cast<std::size_t>(*count);
  *count = static_cast<std::uint32_t>(clocks.size());
  if (out == nullptr || room < clocks.size()) {
    return Return::insufficient_size;
  }
  std::ranges::copy(clocks, out);
  return Return::success;
}

}  // namespace

GPULSE_SIM_EXPORT Return nvmlDeviceGetMemoryInfo(Handle device, Memory *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMemoryInfo, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = call.give(Key::memory_total_mib, &out->total, kMib);
  if (code != Return::success || call.target()[Key::memory_used_mib].code != Return::success) {
    return code != Return::success ? code : call.target()[Key::memory_used_mib].code;
  }
  // The first generation counts the reserved part as used.
  out->used = static_cast<std::uint64_t>(memory_bytes(call, Key::memory_used_mib) +
                                         memory_bytes(call, Key::memory_reserved_mib));
  out->free = out->total - std::min(out->used, out->total);
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetMemoryInfo_v2(Handle device, MemoryV2 *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMemoryInfo_v2, device)
  GPULSE_SIM_NEED(out != nullptr)
  if (!version_is(*out, 2)) {
    return Return::argument_version_mismatch;
  }
  const Return code = call.give(Key::memory_total_mib, &out->total, kMib);
  if (code != Return::success || call.target()[Key::memory_used_mib].code != Return::success) {
    return code != Return::success ? code : call.target()[Key::memory_used_mib].code;
  }
  out->reserved = static_cast<std::uint64_t>(memory_bytes(call, Key::memory_reserved_mib));
  out->used = static_cast<std::uint64_t>(memory_bytes(call, Key::memory_used_mib));
  out->free = out->total - std::min(out->used + out->reserved, out->total);
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetBAR1MemoryInfo(Handle device, Bar1Memory *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetBAR1MemoryInfo, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = call.give(Key::bar1_total_mib, &out->total, kMib);
  if (code == Return::success) {
    out->used = static_cast<std::uint64_t>(memory_bytes(call, Key::bar1_used_mib));
    out->free = out->total - std::min(out->used, out->total);
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetUtilizationRates(Handle device, Utilization *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetUtilizationRates, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = call.give(Key::gpu_util, &out->gpu);
  if (code == Return::success && call.give(Key::memory_util, &out->memory) != Return::success) {
    out->memory = 0;
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetEncoderUtilization(Handle device, std::uint32_t *out, std::uint32_t *period_us) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetEncoderUtilization, device)
  return engine(call, Key::encoder_util, out, period_us);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetDecoderUtilization(Handle device, std::uint32_t *out, std::uint32_t *period_us) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetDecoderUtilization, device)
  return engine(call, Key::decoder_util, out, period_us);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetJpgUtilization(Handle device, std::uint32_t *out, std::uint32_t *period_us) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetJpgUtilization, device)
  return engine(call, Key::jpeg_util, out, period_us);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetOfaUtilization(Handle device, std::uint32_t *out, std::uint32_t *period_us) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetOfaUtilization, device)
  return engine(call, Key::ofa_util, out, period_us);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetDynamicPstatesInfo(Handle device, DynamicPstatesInfo *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetDynamicPstatesInfo, device)
  GPULSE_SIM_NEED(out != nullptr)
  *out = {};
  constexpr std::array kDomains{Key::gpu_util, Key::memory_util, Key::encoder_util};
  for (std::size_t i = 0; i < kDomains.size(); ++i) {
    out->domains[i].present = call.give(kDomains[i], &out->domains[i].percent) == Return::success ? 1 : 0;
  }
  out->flags = 1;
  return call.target()[Key::gpu_util].code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetSamples(Handle device, std::uint32_t type, std::uint64_t last_seen_us,
                                              ValueType *value_type, std::uint32_t *count, Sample *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetSamples, device)
  GPULSE_SIM_NEED(value_type != nullptr && count != nullptr && type < kRings.size())
  const Ring &ring = kRings[type];
  const Number &number = call.target()[call.target()[ring.own].supported() ? ring.own : ring.key];
  if (!number.supported()) {
    return number.code;
  }
  *value_type = ValueType::u32;
  if (out == nullptr) {
    *count = ring.length;
    return Return::success;
  }
  return newest_samples(number, ring, last_seen_us, {out, *count}, *count);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetClockInfo(Handle device, std::uint32_t type, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetClockInfo, device)
  return current_clock(call, type, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetMaxClockInfo(Handle device, std::uint32_t type, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMaxClockInfo, device)
  return give_clock(call, kMaxClocks, type, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetClock(Handle device, std::uint32_t type, std::uint32_t id, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetClock, device)
  switch (id) {
    case 0:
      return current_clock(call, type, out);
    case 1:
      return application_clock(call, type, out);
    case 2:
      return give_clock(call, kDefaultClocks, type, out);
    case 3:
      return give_clock(call, kBoostClocks, type, out);
    default:
      return Return::invalid_argument;
  }
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetMaxCustomerBoostClock(Handle device, std::uint32_t type, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetMaxCustomerBoostClock, device)
  return type == 3 ? Return::not_supported : give_clock(call, kBoostClocks, type, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetApplicationsClock(Handle device, std::uint32_t type, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetApplicationsClock, device)
  return type == 3 ? Return::not_supported : application_clock(call, type, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetDefaultApplicationsClock(Handle device, std::uint32_t type, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetDefaultApplicationsClock, device)
  return type == 3 ? Return::not_supported : give_clock(call, kDefaultClocks, type, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetSupportedMemoryClocks(Handle device, std::uint32_t *count, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetSupportedMemoryClocks, device)
  return list_clocks(call.device().memory_clocks, count, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetSupportedGraphicsClocks(Handle device, std::uint32_t memory_mhz,
                                                              std::uint32_t *count, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetSupportedGraphicsClocks, device)
  const std::vector<std::uint32_t> &memory = call.device().memory_clocks;
  if (!memory.empty() && std::ranges::find(memory, memory_mhz) == memory.end()) {
    return Return::not_found;
  }
  return list_clocks(call.device().graphics_clocks, count, out);
}

GPULSE_SIM_NUMBER(nvmlDeviceGetPerformanceState, std::uint32_t, pstate, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetPowerState, std::uint32_t, pstate, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetCurrentClocksEventReasons, std::uint64_t, event_reasons, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, std::uint64_t, event_reasons, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetSupportedClocksEventReasons, std::uint64_t, supported_event_reasons, 1)
GPULSE_SIM_NUMBER(nvmlDeviceGetSupportedClocksThrottleReasons, std::uint64_t, supported_event_reasons, 1)

GPULSE_SIM_EXPORT Return nvmlDeviceGetViolationStatus(Handle device, std::uint32_t policy, ViolationTime *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetViolationStatus, device)
  constexpr std::array kPolicies{Key::held_power_ns,       Key::held_thermal_ns,         Key::held_sync_boost_ns,
                                 Key::held_board_limit_ns, Key::held_low_utilization_ns, Key::held_reliability_ns};
  GPULSE_SIM_NEED(out != nullptr && (policy < kPolicies.size() || policy == 10 || policy == 11))
  out->reference_us = wall_us(call.now());
  if (policy >= 10) {
    return call.give(policy == 10 ? Key::held_app_clocks_ns : Key::held_base_clocks_ns, &out->violation_ns);
  }
  return call.give(kPolicies[policy], &out->violation_ns);
}

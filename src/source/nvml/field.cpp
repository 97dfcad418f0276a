// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/field.hpp"

#include <algorithm>
#include <limits>

#include "source/nvml/code.hpp"
#include "source/nvml/reader_calls.hpp"

namespace gpulse::nvml {

namespace {

enum class Batch : std::uint8_t { fast, slow, smoothing, module, pcie };

struct FieldRow {
  Batch batch;
  std::uint32_t field;
  std::uint32_t scope;
  MetricId metric;
  double scale = 1.0;
};

constexpr double kNano = 1e-9;
constexpr double kMilli = 1e-3;
constexpr std::uint32_t kScopeModule = 1, kScopeMemory = 2;

constexpr std::array kRows{
    FieldRow{Batch::fast, field::kPowerInstant, 0, device_metric("power_instant_watts"), kMilli},
    FieldRow{Batch::fast, field::kPowerAverage, 0, device_metric("power_average_watts"), kMilli},
    FieldRow{Batch::fast, field::kMemoryTemperature, 0, device_metric("temperature_memory_celsius")},
    FieldRow{Batch::slow, field::kPowerAverage, kScopeMemory, device_metric("memory_power_watts"), kMilli},
    FieldRow{Batch::slow, field::kPowerAverage, kScopeModule, device_metric("module_power_watts"), kMilli},
    FieldRow{Batch::slow, field::kHeldPower, 0, device_metric("throttled_power_seconds"), kNano},
    FieldRow{Batch::slow, field::kHeldThermal, 0, device_metric("throttled_thermal_seconds"), kNano},
    FieldRow{Batch::slow, field::kHeldSyncBoost, 0, device_metric("throttled_sync_boost_seconds"), kNano},
    FieldRow{Batch::slow, field::kHeldBoardLimit, 0, device_metric("throttled_board_limit_seconds"), kNano},
    FieldRow{Batch::slow, field::kHeldLowUtilization, 0, device_metric("throttled_low_utilization_seconds"), kNano},
    FieldRow{Batch::slow, field::kHeldReliability, 0, device_metric("throttled_reliability_seconds"), kNano},
    FieldRow{Batch::slow, field::kHeldSwThermal, 0, device_metric("throttled_sw_thermal_seconds"), kNano},
    FieldRow{Batch::slow, field::kHeldHwThermal, 0, device_metric("throttled_hw_thermal_seconds"), kNano},
    FieldRow{Batch::slow, field::kHeldHwPowerBrake, 0, device_metric("throttled_power_brake_seconds"), kNano},
    FieldRow{Batch::slow, field::kLimitShutdown, 0, device_metric("temperature_margin_shutdown_celsius")},
    FieldRow{Batch::slow, field::kLimitSlowdown, 0, device_metric("temperature_margin_slowdown_celsius")},
    FieldRow{Batch::slow, field::kLimitMemoryMax, 0, device_metric("temperature_margin_memory_max_celsius")},
    FieldRow{Batch::slow, field::kLimitGpuMax, 0, device_metric("temperature_margin_gpu_max_celsius")},
    FieldRow{Batch::slow, field::kNvlinkCrcFlitTotal, 0, device_metric("nvlink_crc_flit_errors_total")},
    FieldRow{Batch::slow, field::kNvlinkCrcDataTotal, 0, device_metric("nvlink_crc_data_errors_total")},
    FieldRow{Batch::slow, field::kNvlinkReplayTotal, 0, device_metric("nvlink_replay_errors_total")},
    FieldRow{Batch::slow, field::kNvlinkRecoveryTotal, 0, device_metric("nvlink_recovery_errors_total")},
    FieldRow{Batch::slow, field::kRecoveryAction, 0, device_metric("recovery_action")},
    FieldRow{Batch::smoothing, field::kSmoothingSupported, 0, detail_metric("power_smoothing_supported")},
    FieldRow{Batch::smoothing, field::kSmoothingFloor1, 0, detail_metric("power_smoothing_primary_floor_watts")},
    FieldRow{Batch::smoothing, field::kSmoothingFloor2, 0, detail_metric("power_smoothing_secondary_floor_watts")},
    FieldRow{Batch::smoothing, field::kSmoothingMinOffset, 0, detail_metric("power_smoothing_min_offset_watts")},
    FieldRow{Batch::smoothing, field::kSmoothingMinPoint, 0, detail_metric("power_smoothing_min_point_watts")},
    FieldRow{Batch::smoothing, field::kSmoothingWindow, 0, detail_metric("power_smoothing_window_seconds"), kMilli},
    FieldRow{Batch::smoothing, field::kSmoothingProfileFloor, 0, detail_metric("power_smoothing_profile_floor_watts")},
    FieldRow{Batch::smoothing, field::kSmoothingProfileActivation, 0,
             detail_metric("power_smoothing_profile_activation_windows")},
    FieldRow{Batch::smoothing, field::kSmoothingProfileTarget, 0,
             detail_metric("power_smoothing_profile_target_windows")},
    FieldRow{Batch::smoothing, field::kSmoothingProfileOffset, 0,
             detail_metric("power_smoothing_profile_offset_watts")},
    FieldRow{Batch::smoothing, field::kSmoothingOverrideFloor, 0,
             detail_metric("power_smoothing_override_floor_watts")},
    FieldRow{Batch::smoothing, field::kSmoothingOverrideActivation, 0,
             detail_metric("power_smoothing_override_activation_windows")},
    FieldRow{Batch::smoothing, field::kSmoothingOverrideTarget, 0,
             detail_metric("power_smoothing_override_target_windows")},
    FieldRow{Batch::smoothing, field::kSmoothingOverrideOffset, 0,
             detail_metric("power_smoothing_override_offset_watts")},
    FieldRow{Batch::module, field::kPowerInstant, kScopeMemory, detail_metric("memory_power_instant_watts"), kMilli},
    FieldRow{Batch::module, field::kPowerInstant, kScopeModule, detail_metric("module_power_instant_watts"), kMilli},
    FieldRow{Batch::module, field::kPowerEnforced, kScopeModule, detail_metric("module_power_limit_watts"), kMilli},
    FieldRow{Batch::module, field::kPowerRequested, kScopeModule, detail_metric("module_power_limit_requested_watts"),
             kMilli},
    FieldRow{Batch::module, field::kPowerDefault, kScopeModule, detail_metric("module_power_limit_default_watts"),
             kMilli},
    FieldRow{Batch::module, field::kPowerMin, kScopeModule, detail_metric("module_power_limit_min_watts"), kMilli},
    FieldRow{Batch::module, field::kPowerMax, kScopeModule, detail_metric("module_power_limit_max_watts"), kMilli},
    FieldRow{Batch::pcie, field::kPcieReplayRollover, 0, detail_metric("pcie_replay_rollover_total")},
    FieldRow{Batch::pcie, field::kAtomicsOutbound, 0, detail_metric("pcie_atomics_outbound")},
    FieldRow{Batch::pcie, field::kAtomicsInbound, 0, detail_metric("pcie_atomics_inbound")},
};
static_assert(kRows.size() <= 64, "DeviceData::refused_fields has a bit per row");

template <Batch B>
constexpr auto batch_metrics() {
  constexpr auto kCount = std::count_if(kRows.begin(), kRows.end(), [](const FieldRow &r) { return r.batch == B; });
  std::array<MetricId, kCount> ids{};
  std::size_t next = 0;
  for (const auto &row : kRows) {
    if (row.batch == B) ids[next++] = row.metric;
  }
  return ids;
}
constexpr auto kFastMetrics = batch_metrics<Batch::fast>();
constexpr auto kSlowMetrics = batch_metrics<Batch::slow>();
constexpr auto kSmoothingMetrics = batch_metrics<Batch::smoothing>();
constexpr auto kModuleMetrics = batch_metrics<Batch::module>();
constexpr auto kPcieMetrics = batch_metrics<Batch::pcie>();
constexpr std::array kThrottleShareMetrics{device_metric("throttled_power_percent"),
                                           device_metric("throttled_thermal_percent")};
constexpr std::array kLinkMetrics{device_metric("pcie_rx_bytes_per_second"), device_metric("pcie_tx_bytes_per_second"),
                                  device_metric("nvlink_rx_bytes_per_second"),
                                  device_metric("nvlink_tx_bytes_per_second")};

double number_of(const FieldValue &value) {
  switch (value.type) {
    case ValueType::f64:
      return value.value.f64;
    case ValueType::u32:
      return value.value.u32;
    case ValueType::ul:
      return static_cast<double>(value.value.ul);
    case ValueType::u64:
      return static_cast<double>(value.value.u64);
    case ValueType::i64:
      return static_cast<double>(value.value.i64);
    case ValueType::i32:
      return value.value.i32;
    case ValueType::u16:
      return value.value.u16;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// The three slowdown counters were renumbered in 575.51 and back in 580.82; on older drivers the numbers mean something
// else. 0: this driver has no such field.
std::uint32_t number_on(const Driver &driver, std::uint32_t wanted) {
  if (wanted < field::kHeldSwThermal || wanted > field::kHeldHwPowerBrake) return wanted;
  const auto at_least = [&](int major, int minor) {
    return driver.major > major || (driver.major == major && driver.minor >= minor);
  };
  if (at_least(580, 82)) return wanted;
  if (at_least(575, 51)) return wanted - field::kHeldSwThermal + field::kHeldSwThermal575;
  return 0;
}

Outcome read_batch(Batch batch, const Driver &driver, DeviceData &device, Frame &frame) {
  std::array<FieldValue, kRows.size()> values{};
  std::array<std::size_t, kRows.size()> asked{};
  int count = 0;
  const auto tell = [&](MetricId id, const Reading &reading) {
    if (auto *place = frame.find(id)) *place = reading;
  };
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].batch != batch || (device.refused_fields >> i & 1U) != 0) continue;
    if (!driver.wants(kRows[i].metric)) continue;
    const auto number = number_on(driver, kRows[i].field);
    if (number == 0) {
      tell(kRows[i].metric, Reason::not_supported);
      continue;
    }
    asked[static_cast<std::size_t>(count)] = i;
    values[static_cast<std::size_t>(count)].field = number;
    values[static_cast<std::size_t>(count)].scope = kRows[i].scope;
    // So that a field the driver leaves untouched does not pass for an answer.
    values[static_cast<std::size_t>(count++)].result = Return::no_data;
  }
  if (count == 0) return Outcome::unsupported;
  const auto code = driver.api->field_values(device.handle, count, values.data());
  auto outcome = outcome_of(code);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto &row = kRows[asked[i]];
    if (code != Return::success) {
      tell(row.metric, reason_of(code));
      continue;
    }
    if (values[i].result == Return::success) {
      tell(row.metric, plausible(row.metric, number_of(values[i]) * row.scale));
      continue;
    }
    tell(row.metric, reason_of(values[i].result));
    const auto one = outcome_of(values[i].result);
    if (one == Outcome::unsupported) device.refused_fields |= std::uint64_t{1} << asked[i];
    if (one == Outcome::lost || one == Outcome::gone) outcome = one;
  }
  return outcome;
}

// Bytes per second between two readings of a counter; `modulus` is where it wraps, 0 for never.
Reading rate(CounterState &state, std::uint64_t value, double unit, Monotonic now, std::uint64_t modulus,
             double most_per_second) {
  const auto before = state;
  state = {.value = value, .time = now, .known = true};
  if (!before.known) return Reason::not_sampled;
  const double seconds = Seconds(now - before.time).count();
  // The counter could have wrapped more than once in this time.
  if (seconds <= 0 || (modulus != 0 && (most_per_second <= 0 || most_per_second * seconds >= double(modulus)))) {
    return Reason::not_sampled;
  }
  if (value < before.value && modulus == 0) return Reason::not_sampled;
  const auto moved = modulus != 0 ? (value - before.value) & (modulus - 1) : value - before.value;
  return static_cast<double>(moved) * unit / seconds;
}

struct Counter {
  std::uint32_t field = 0, scope = 0;
  CounterState *state = nullptr;
  double unit = 1;
  std::uint64_t modulus = 0;  // 0: it does not wrap
  MetricId metric{};
};

// Reads the counters' rates; `finish` turns a rate into a reading.
template <std::size_t N>
Outcome read_rates(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame,
                   const std::array<Counter, N> &counters, const auto &finish) {
  std::array<FieldValue, N> values{};
  std::array<const Counter *, N> asked{};
  std::size_t count = 0;
  for (const auto &counter : counters) {
    if (!driver.wants(counter.metric)) continue;
    values[count].field = counter.field;
    values[count].scope = counter.scope;
    values[count].result = Return::no_data;
    asked[count++] = &counter;
  }
  const auto code = driver.api->field_values(device.handle, static_cast<int>(count), values.data());
  auto outcome = code == Return::success ? Outcome::unsupported : outcome_of(code);
  for (std::size_t i = 0; i < count; ++i) {
    const auto &counter = *asked[i];
    const auto result = code == Return::success ? values[i].result : code;
    auto &reading = frame.row[counter.metric];
    if (result != Return::success) {
      reading = reason_of(result);
      if (outcome_of(result) != Outcome::unsupported) outcome = outcome_of(result);
      continue;
    }
    outcome = Outcome::ok;
    reading = rate(*counter.state, static_cast<std::uint64_t>(number_of(values[i])), counter.unit, now, counter.modulus,
                   device.link_bytes_per_second);
    if (reading.has_value()) reading = finish(counter, reading.value());
  }
  return outcome;
}

}  // namespace

std::span<const MetricId> fast_field_metrics() { return kFastMetrics; }
std::span<const MetricId> slow_field_metrics() { return kSlowMetrics; }
std::span<const MetricId> smoothing_field_metrics() { return kSmoothingMetrics; }
std::span<const MetricId> module_field_metrics() { return kModuleMetrics; }
std::span<const MetricId> pcie_field_metrics() { return kPcieMetrics; }
std::span<const MetricId> link_counter_metrics() { return kLinkMetrics; }
std::span<const MetricId> throttle_share_metrics() { return kThrottleShareMetrics; }

Outcome read_fast_fields(const Driver &driver, DeviceData &device, Monotonic /*now*/, Frame &frame) {
  return read_batch(Batch::fast, driver, device, frame);
}

Outcome read_slow_fields(const Driver &driver, DeviceData &device, Monotonic /*now*/, Frame &frame) {
  return read_batch(Batch::slow, driver, device, frame);
}

Outcome read_smoothing_fields(const Driver &driver, DeviceData &device, Monotonic /*now*/, Frame &frame) {
  return read_batch(Batch::smoothing, driver, device, frame);
}

Outcome read_module_fields(const Driver &driver, DeviceData &device, Monotonic /*now*/, Frame &frame) {
  return read_batch(Batch::module, driver, device, frame);
}

Outcome read_pcie_fields(const Driver &driver, DeviceData &device, Monotonic /*now*/, Frame &frame) {
  return read_batch(Batch::pcie, driver, device, frame);
}

Outcome read_throttle_shares(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame) {
  const std::array counters{Counter{.field = field::kHeldPower,
                                    .state = &device.throttled_power,
                                    .unit = kNano,
                                    .metric = kThrottleShareMetrics[0]},
                            Counter{.field = field::kHeldThermal,
                                    .state = &device.throttled_thermal,
                                    .unit = kNano,
                                    .metric = kThrottleShareMetrics[1]}};
  // Seconds per second. The driver's clock differs a little from ours, so the share can exceed 100 %.
  constexpr double kMost = 10;
  return read_rates(driver, device, now, frame, counters, [](const Counter &counter, double rate) -> Reading {
    return rate > kMost ? Reason::out_of_range : plausible(counter.metric, std::min(100.0, 100 * rate));
  });
}

Outcome read_link_counters(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame) {
  if (device.gpm != nullptr) return Outcome::unsupported;  // GPM has the same, without wraps
  // A command that names only the traffic has not read what the link can carry.
  if (driver.only && device.link_bytes_per_second <= 0 && !device.integrated) pcie_max(driver, device, now, frame);
  constexpr std::uint64_t kWrap = std::uint64_t{1} << 32U;
  const std::array counters{Counter{field::kPcieRxBytes, 0, &device.pcie_rx, 1, kWrap, kLinkMetrics[0]},
                            Counter{field::kPcieTxBytes, 0, &device.pcie_tx, 1, kWrap, kLinkMetrics[1]},
                            Counter{field::kNvlinkDataRx, kAllLinks, &device.nvlink_rx, 1024, 0, kLinkMetrics[2]},
                            Counter{field::kNvlinkDataTx, kAllLinks, &device.nvlink_tx, 1024, 0, kLinkMetrics[3]}};
  return read_rates(driver, device, now, frame, counters, [&](const Counter &counter, double rate) -> Reading {
    // The counters follow another clock than ours, so a rate may exceed the link's capacity, but only by a little.
    if (counter.modulus != 0 && rate > 1.1 * device.link_bytes_per_second) return Reason::out_of_range;
    return plausible(counter.metric, rate);
  });
}

}  // namespace gpulse::nvml

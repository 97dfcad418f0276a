// SPDX-License-Identifier: Apache-2.0
// The reader of gpu_metrics: values that have no file of their own, and rates between two readings.
#include <cerrno>

#include "metric/state_names.hpp"
#include "model/plausible.hpp"
#include "source/amdgpu/reader_calls.hpp"

namespace gpulse::amdgpu {

namespace {

// One page on older kernels, up to 128 KiB on newer ones.
constexpr std::size_t kMaxTable = 1U << 17U;
constexpr double kJoulesPerCount = 1.0 / 65536;
constexpr double kKib = 1024;

struct Filled {
  Field field;
  MetricId metric;
};
constexpr std::array kFilled{
    Filled{Field::temperature_edge, device_metric("temperature_gpu_celsius")},
    Filled{Field::temperature_hotspot, device_metric("temperature_hotspot_celsius")},
    Filled{Field::temperature_memory, device_metric("temperature_memory_celsius")},
    Filled{Field::temperature_soc, device_metric("temperature_soc_celsius")},
    Filled{Field::temperature_vr_graphics, device_metric("temperature_vr_graphics_celsius")},
    Filled{Field::temperature_vr_soc, device_metric("temperature_vr_soc_celsius")},
    Filled{Field::temperature_vr_memory, device_metric("temperature_vr_memory_celsius")},
    Filled{Field::activity_graphics, device_metric("gpu_utilization_percent")},
    Filled{Field::activity_memory, device_metric("memory_utilization_percent")},
    Filled{Field::activity_video, device_metric("video_utilization_percent")},
    Filled{Field::activity_jpeg, device_metric("jpeg_utilization_percent")},
    Filled{Field::clock_graphics, device_metric("clock_graphics_mhz")},
    Filled{Field::clock_memory, device_metric("clock_memory_mhz")},
    Filled{Field::clock_soc, device_metric("clock_soc_mhz")},
    Filled{Field::clock_fabric, device_metric("clock_fabric_mhz")},
    Filled{Field::clock_video, device_metric("clock_video_mhz")},
    Filled{Field::voltage_graphics, device_metric("voltage_graphics_volts")},
    Filled{Field::voltage_soc, device_metric("voltage_soc_volts")},
    Filled{Field::voltage_memory, device_metric("voltage_memory_volts")},
    Filled{Field::fan_rpm, device_metric("fan_speed_rpm")},
    Filled{Field::pcie_replay, device_metric("pcie_replay_total")},
};

void fill(const Context &in, MetricId id, const std::optional<double> &field) {
  auto &device = in.device;
  if (device.own[id.index]) return;
  const auto value = field ? device.presence.check(id, plausible(id, *field)) : Reading(Reason::not_supported);
  auto &reading = in.frame.row[id];
  // The reason from its own file says more than that the table has no value either.
  const bool none = value.is(Reason::not_supported);
  if (none && !device.from_table[id.index] && !reading.is(Reason::not_sampled)) return;
  reading = value;
  device.from_table[id.index] = !none;
}

// Values that only the table has.
void give(const Context &in, MetricId id, const Reading &reading) {
  in.frame.row[id] = reading;
  in.device.from_table[id.index] = true;
}

// How much the counter grew; none at the first reading and after a reset.
std::optional<double> growth(const Context &in, const GpuMetrics &now, Field field) {
  if (!in.device.before) return std::nullopt;
  const auto before = (*in.device.before)[field];
  const auto after = now[field];
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

// The share of the firmware's own time in which the limit was in effect; the largest if there are several.
Reading residency(const Context &in, const GpuMetrics &now, std::initializer_list<Field> fields, MetricId id) {
  bool there = false;
  Reading most = Reason::not_sampled;
  const auto whole = growth(in, now, Field::accumulation);
  for (const auto field : fields) {
    there = there || now[field];
    const auto part = growth(in, now, field);
    if (!part || whole.value_or(0) <= 0) continue;
    const auto share = plausible(id, *part / *whole * 100);
    if (!most || (share && share.value() > most.value())) most = share;
  }
  return there && now[Field::accumulation] ? most : Reason::not_supported;
}

void fill_residencies(const Context &in, const GpuMetrics &now) {
  const auto &row = in.frame.row;
  constexpr auto kPower = device_metric("throttled_power_percent");
  constexpr auto kThermal = device_metric("throttled_thermal_percent");
  give(in, kPower, residency(in, now, {Field::residency_power}, kPower));
  give(in, kThermal,
       residency(in, now, {Field::residency_socket_heat, Field::residency_regulator_heat, Field::residency_memory_heat},
                 kThermal));
  // Some firmware counts an idle device as throttled all the time.
  const bool idle = row[device_metric("gpu_utilization_percent")].value_or(1) == 0;
  if (idle && row[kPower].value_or(0) == 100) give(in, kPower, Reason::out_of_range);
}

// For counters in an unknown unit: a limit was in effect if its counter has grown since the last reading.
Reading reasons_of_growth(const Context &in, const GpuMetrics &now) {
  struct Cause {
    Field field;
    std::uint64_t bit;
  };
  constexpr std::array kCauses{
      Cause{Field::growth_prochot, state_names::throttle_bit("hw slowdown")},
      Cause{Field::growth_power_sustained, state_names::throttle_bit("power cap")},
      Cause{Field::growth_power_fast, state_names::throttle_bit("power cap")},
      Cause{Field::growth_power_slow, state_names::throttle_bit("power cap")},
      Cause{Field::growth_core_heat, state_names::throttle_bit("hw thermal")},
      Cause{Field::growth_graphics_heat, state_names::throttle_bit("hw thermal")},
      Cause{Field::growth_soc_heat, state_names::throttle_bit("hw thermal")},
      Cause{Field::residency_prochot, state_names::throttle_bit("hw slowdown")},
      Cause{Field::residency_power, state_names::throttle_bit("power cap")},
      Cause{Field::residency_socket_heat, state_names::throttle_bit("hw thermal")},
      Cause{Field::residency_regulator_heat, state_names::throttle_bit("hw thermal")},
      Cause{Field::residency_memory_heat, state_names::throttle_bit("hw thermal")},
  };
  std::uint64_t bits = 0;
  bool there = false;
  bool told = false;
  for (const auto &[field, bit] : kCauses) {
    there = there || now[field];
    const auto grown = growth(in, now, field);
    told = told || grown;
    if (grown.value_or(0) > 0) bits |= bit;
  }
  if (!there) return Reason::not_supported;
  return told ? Reading(static_cast<double>(bits)) : Reason::not_sampled;
}

Reading throttle_reasons(const Context &in, const GpuMetrics &now) {
  const auto &row = in.frame.row;
  if (!now[Field::throttle]) {
    // Some firmware counts idle time as throttled; ignore that here too.
    if (row[device_metric("throttled_power_percent")].is(Reason::out_of_range)) return Reason::out_of_range;
    return reasons_of_growth(in, now);
  }
  auto bits = now.throttle;
  // RDNA3 chips set the hotspot bit while idle, so it counts only near the limit.
  constexpr double kNear = 15;
  constexpr double kUsualLimit = 100;
  const auto hot = row[device_metric("temperature_hotspot_celsius")];
  const auto limit = row[device_metric("temperature_hotspot_max_celsius")].value_or(kUsualLimit);
  if (hot && hot.value() < limit - kNear) bits &= ~kHotspotBit;
  return static_cast<double>(decode_throttle(bits));
}

void fill_rates(const Context &in, const GpuMetrics &now) {
  const auto seconds = Seconds(in.now - in.device.before_at).count();
  const auto rate = [&](Field field, MetricId id) {
    if (!now[field]) {
      give(in, id, Reason::not_supported);
      return;
    }
    const auto grown = growth(in, now, field);
    give(in, id, grown && seconds > 0 ? plausible(id, *grown * kKib / seconds) : Reason::not_sampled);
  };
  rate(Field::xgmi_read_kib, device_metric("xgmi_read_bytes_per_second"));
  rate(Field::xgmi_write_kib, device_metric("xgmi_write_bytes_per_second"));
}

void fill_power(const Context &in, const GpuMetrics &now) {
  constexpr auto kPackage = device_metric("package_power_watts");
  constexpr auto kEnergy = device_metric("energy_joules");
  const auto power = now[Field::power_socket];
  // Some Renoir firmware reports watts instead of milliwatts; no APU runs on a fifth of a watt.
  constexpr double kLeast = 0.2;
  Reading package = Reason::not_supported;
  if (!now.integrated()) {
    fill(in, device_metric("power_draw_watts"), power);
  } else if (power) {
    package = *power < kLeast ? Reason::out_of_range : plausible(kPackage, *power);
  }
  give(in, kPackage, package);
  const auto energy = now[Field::energy];
  const bool counted = in.device.counts_energy && energy.value_or(0) > 0;
  give(in, kEnergy, counted ? plausible(kEnergy, *energy * kJoulesPerCount) : Reason::not_supported);
}

}  // namespace

Outcome read_table(const Context &in, const Reader &self) {
  auto &device = in.device;
  if (device.folder.empty()) return Outcome::unsupported;
  device.path.assign(device.folder).append(self.file);
  const auto fills = std::span(self.info.fills);
  const auto refused = [&](const Reading &reading) {
    for (const auto id : fills) {
      auto &old = in.frame.row[id];
      if (device.from_table[id.index] || old.is(Reason::not_sampled)) old = reading;
    }
    device.from_table.reset();
    device.before.reset();
  };
  if (!in.root.read_into(device.text, device.path, kMaxTable)) {
    const int error = errno;
    refused(Reason::not_supported);
    return refuse(in, {}, error);
  }
  const auto now = parse_gpu_metrics(device.text);
  if (!now) {
    refused(device.text.empty() ? Reason::not_supported : Reason::error);
    return Outcome::ok;
  }
  for (const auto &[field, metric] : kFilled) fill(in, metric, (*now)[field]);
  // For a chip without an edge sensor the hotspot is the temperature.
  if ((*now)[Field::temperature_edge].value_or(0) == 0) {
    fill(in, device_metric("temperature_gpu_celsius"), (*now)[Field::temperature_hotspot]);
  }
  fill_power(in, *now);
  fill_residencies(in, *now);
  give(in, device_metric("throttle_reasons"), throttle_reasons(in, *now));
  fill_rates(in, *now);
  if (device.partitions != nullptr) {
    const std::lock_guard lock(device.partitions->mutex);
    device.partitions->busy_percent = now->partition_busy;
  }
  device.before = now;
  device.before_at = in.now;
  return Outcome::ok;
}

}  // namespace gpulse::amdgpu

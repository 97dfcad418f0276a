// SPDX-License-Identifier: Apache-2.0
#include "source/intel/reader_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <expected>
#include <limits>

#include "base/text.hpp"
#include "model/plausible.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::intel {

namespace {

using namespace std::chrono_literals;

constexpr auto kUse = device_metric("gpu_utilization_percent");
constexpr auto kRender = device_metric("render_utilization_percent");
constexpr auto kCompute = device_metric("compute_utilization_percent");
constexpr double kMicro = 1e-6;
constexpr std::size_t kMaxText = 4096;

bool is_npu(const Device &device) { return device.card.driver == kNpu; }

std::expected<std::uint64_t, Reason> read_count(const Call &in, const std::string &path) {
  if (!in.context.root.read_piece(in.device.buffer, path, kMaxText)) {
    return std::unexpected(sysfs::refusal_of_device(errno));
  }
  const auto count = parse_integer<std::uint64_t>(sysfs::bare(in.device.buffer));
  if (!count) return std::unexpected(Reason::error);
  return *count;
}

Reading read_file(const Call &in, const std::string &path, MetricId metric, double scale = 1) {
  if (path.empty()) return Reason::not_supported;
  return sysfs::read_attribute(in.context.root, path, metric, scale, in.device.buffer);
}

// The higher of two readings. A number wins over a reason, any other reason over not_supported.
void put_higher(Reading &known, const Reading &other) {
  if (known.is(Reason::not_supported) || (other && (!known || other.value() > known.value()))) known = other;
}

bool all_unsupported(const Row &row, std::span<const MetricId> metrics) {
  return std::all_of(metrics.begin(), metrics.end(), [&](MetricId id) { return row[id].is(Reason::not_supported); });
}

// When several files fill a metric, the first one that gives a number is used. Unsupported when there is no such file.
Outcome read_files(const Call &in, std::span<const SensorFile> files, std::span<const MetricId> fills,
                   bool zero_is_none) {
  auto &row = in.frame.row;
  bool any = false;
  for (const auto id : fills) row[id] = Reason::not_supported;
  for (const auto &[path, metric, scale] : files) {
    auto &reading = row[metric];
    if (reading) continue;
    auto found = read_file(in, path, metric, scale);
    if (zero_is_none && found.value_or(1) == 0) continue;
    any = any || !found.is(Reason::not_supported);
    found = in.device.presence.check(metric, found);
    if (found || reading.is(Reason::not_supported)) reading = found;
  }
  return any ? Outcome::ok : Outcome::unsupported;
}

// Fills the utilisation from the best source: the performance counters know all users, the clients' counts only those
// that we may read, and the time awake is the last resort.
void settle_use(Device &device, Row &row) {
  for (const auto id : drm::kEngineMetrics) {
    if (device.counted[id]) row[id] = device.counted[id];
  }
  const auto counted = drm::busiest(device.counted[kRender], device.counted[kCompute]);
  if (counted)
    row[kUse] = counted;
  else if (device.use_by_clients)
    row[kUse] = device.use_by_clients;
  else
    row[kUse] = device.awake || device.use_by_clients.is(Reason::not_supported) ? device.awake : device.use_by_clients;
}

}  // namespace

Outcome read_sleep(const Call &in) {
  const auto &device = in.device;
  if (!device.integrated && in.idle_cards.try_release(in.context.root, device.card, in.frame, in.now)) {
    return Outcome::asleep;
  }
  return !in.context.wake && drm::is_asleep(in.context.root, in.device.card) ? Outcome::asleep : Outcome::ok;
}

Outcome read_clocks(const Call &in) {
  constexpr std::array kFills{device_metric("clock_graphics_mhz"), device_metric("clock_video_mhz"),
                              device_metric("clock_requested_mhz")};
  auto &row = in.frame.row;
  if (is_npu(in.device)) return Outcome::unsupported;
  for (const auto id : kFills) row[id] = Reason::not_supported;
  for (const auto &gt : in.device.gts) {
    const auto metric = gt.media ? kFills[1] : kFills[0];
    put_higher(row[metric], read_file(in, gt.actual, metric));
    if (!gt.media) put_higher(row[kFills[2]], read_file(in, gt.requested, kFills[2]));
  }
  return all_unsupported(row, kFills) ? Outcome::unsupported : Outcome::ok;
}

Outcome read_highest_clocks(const Call &in) {
  constexpr std::array kFills{device_metric("clock_max_graphics_mhz"), device_metric("clock_max_video_mhz")};
  auto &row = in.frame.row;
  if (is_npu(in.device)) return Outcome::unsupported;
  for (const auto id : kFills) row[id] = Reason::not_supported;
  for (const auto &gt : in.device.gts) {
    put_higher(row[kFills[gt.media ? 1 : 0]], read_file(in, gt.highest, kFills[0]));
    put_higher(row[kFills[1]], read_file(in, gt.highest_media, kFills[1]));
  }
  return all_unsupported(row, kFills) ? Outcome::unsupported : Outcome::ok;
}

Outcome read_idle(const Call &in) {
  constexpr std::array kFills{device_metric("awake_percent"), device_metric("media_awake_percent")};
  auto &row = in.frame.row;
  auto &device = in.device;
  if (is_npu(device)) return Outcome::unsupported;
  for (const auto id : kFills) row[id] = Reason::not_supported;
  for (std::size_t i = 0; i < device.gts.size(); ++i) {
    const auto &gt = device.gts[i];
    if (gt.idle_ms.empty()) continue;
    const auto count = read_count(in, gt.idle_ms);
    auto idle = count ? device.idle[i].update(*count, 1ms, in.now) : Reading(count.error());
    // In a recorded machine counters stand still, which does not mean that it was never idle.
    if (idle && idle.value() == 0 && !in.context.root.is_live()) idle = Reason::not_sampled;
    put_higher(row[kFills[gt.media ? 1 : 0]], idle ? Reading(100 - idle.value()) : idle);
  }
  device.awake = row[kFills[0]];
  settle_use(device, row);
  return all_unsupported(row, kFills) ? Outcome::unsupported : Outcome::ok;
}

Outcome read_throttle(const Call &in) {
  constexpr auto kReasons = device_metric("throttle_reasons");
  std::uint64_t bits = 0;
  Reading reading = Reason::not_supported;
  for (const auto &gt : in.device.gts) {
    if (gt.throttle.empty()) continue;
    const auto any = read_count(in, gt.throttle);
    if (!any) {
      reading = any.error();
      continue;
    }
    if (reading.is(Reason::not_supported)) reading = 0.0;
    if (*any == 0) continue;
    const auto before = std::exchange(bits, 0);
    for (const auto &cause : gt.causes) {
      if (read_count(in, cause.path).value_or(0) != 0) bits |= cause.bits;
    }
    bits = before | (bits != 0 ? bits : throttle_bits({}));
  }
  if (reading) reading = static_cast<double>(bits);
  in.frame.row[kReasons] = reading;
  return reading.is(Reason::not_supported) ? Outcome::unsupported : Outcome::ok;
}

Outcome read_energy(const Call &in) {
  constexpr std::array kFills{device_metric("power_draw_watts"), device_metric("package_power_watts"),
                              device_metric("energy_joules")};
  auto &row = in.frame.row;
  auto &device = in.device;
  for (const auto id : kFills) row[id] = Reason::not_supported;
  bool chosen = false;
  for (std::size_t i = 0; i < device.sensors.energy.size(); ++i) {
    const auto &counter = device.sensors.energy[i];
    std::expected<std::uint64_t, Reason> sum(0);
    for (const auto &path : counter.paths) {
      const auto count = read_count(in, path);
      sum = count && sum ? std::expected<std::uint64_t, Reason>(*sum + *count) : (sum ? count : sum);
    }
    // A counter at 0 does not count: on some kernels the one for the whole board does not.
    if (sum && *sum == 0) continue;
    const auto watts =
        sum ? device.energy[i].update(*sum, in.now, device.sensors.max_watts, counter.wraps_at) : Reading(sum.error());
    if (counter.package) row[kFills[1]] = watts;
    if (chosen || (!sum && !row[kFills[0]].is(Reason::not_supported))) continue;
    chosen = sum.has_value();
    row[kFills[0]] = watts;
    // A counter that wraps while the driver runs is not a total.
    if (counter.wraps_at == 0) {
      row[kFills[2]] = sum ? plausible(kFills[2], static_cast<double>(*sum) * kMicro) : Reading(sum.error());
    }
  }
  return device.sensors.energy.empty() ? Outcome::unsupported : Outcome::ok;
}

Outcome read_power_limits(const Call &in) {
  constexpr std::array kFills{device_metric("power_limit_watts"), device_metric("power_limit_default_watts"),
                              device_metric("power_limit_fast_watts")};
  return read_files(in, in.device.sensors.limits, kFills, true);
}

Outcome read_sensors(const Call &in) {
  constexpr std::array kFills{device_metric("temperature_gpu_celsius"), device_metric("temperature_memory_celsius"),
                              device_metric("voltage_graphics_volts")};
  return read_files(in, in.device.sensors.now, kFills, false);
}

Outcome read_fixed_sensors(const Call &in) {
  constexpr std::array kFills{
      device_metric("temperature_gpu_max_celsius"), device_metric("temperature_slowdown_celsius"),
      device_metric("temperature_shutdown_celsius"), device_metric("temperature_memory_max_celsius")};
  return read_files(in, in.device.sensors.fixed, kFills, true);
}

Outcome read_fans(const Call &in) {
  constexpr auto kSpeed = device_metric("fan_speed_rpm");
  const auto &fans = in.device.sensors.fans;
  if (fans.empty()) return Outcome::unsupported;
  auto &row = in.frame.row;
  row[kSpeed] = Reason::not_supported;
  for (const auto &path : fans) put_higher(row[kSpeed], read_file(in, path, kSpeed));
  row[device_metric("fan_count")] = static_cast<double>(fans.size());
  return Outcome::ok;
}

Outcome read_pmu_engines(const Call &in) {
  auto &device = in.device;
  const auto &context = in.context;
  if (!std::exchange(device.pmu_tried, true) && context.open_counter) {
    const bool xe = device.card.driver == kXe;
    // Open counters of xe keep the device awake.
    const bool wanted = device.card.driver == kI915 || (xe && context.wake);
    const auto pmu = wanted ? read_pmu(context.root, pmu_name(device.card, device.integrated)) : std::nullopt;
    if (pmu) {
      const auto engines = xe ? xe_pmu_engines(*pmu, device.gts) : i915_pmu_engines(*pmu);
      PmuMeter meter(*pmu, engines, context.open_counter);
      if (!meter.empty()) device.pmu.emplace(std::move(meter));
    }
  }
  if (!device.pmu) return Outcome::unsupported;
  device.pmu->update(device.counted);
  settle_use(device, in.frame.row);
  return Outcome::ok;
}

Outcome read_link(const Call &in) {
  drm::read_pcie_link(in.context.root, in.device.link, in.frame.row, in.device.buffer);
  return all_unsupported(in.frame.row, drm::kPcieLinkMetrics) ? Outcome::unsupported : Outcome::ok;
}

Outcome read_link_errors(const Call &in) {
  drm::read_pcie_errors(in.context.root, in.device.link, in.frame.row, in.device.buffer);
  return all_unsupported(in.frame.row, drm::kPcieErrorMetrics) ? Outcome::unsupported : Outcome::ok;
}

Outcome read_numa_node(const Call &in) {
  in.frame.row[device_metric("numa_node")] = drm::numa_node(in.context.root, in.device.card);
  return Outcome::ok;
}

// Fills the utilisation as well, from the same counters.
Outcome read_clients(const Call &in) {
  auto &device = in.device;
  auto &row = in.frame.row;
  if (!device.clients) return Outcome::unsupported;
  const auto sums = device.clients->read(in.now, in.frame);
  for (const auto id : drm::kEngineMetrics) {
    const bool has = device.engines.empty()
                         ? row[id].has_value() || row[id].is(Reason::not_sampled)
                         : std::find(device.engines.begin(), device.engines.end(), id) != device.engines.end();
    if (!has) row[id] = Reason::not_supported;
  }
  if (is_npu(device)) return Outcome::ok;
  device.use_by_clients = drm::busiest(row[kRender], row[kCompute]);
  settle_use(device, row);
  write_client_memory(device, sums, row);
  return Outcome::ok;
}

Outcome scan_processes(const Call &in) {
  if (!in.device.clients) return Outcome::unsupported;
  in.context.device_users->scan_all(in.now);
  return Outcome::ok;
}

Outcome read_npu_use(const Call &in) {
  if (!is_npu(in.device)) return Outcome::unsupported;
  const auto count = read_count(in, in.device.card.device + "/npu_busy_time_us");
  auto &reading = in.frame.row[kUse];
  reading = count ? in.device.npu_busy.update(*count, 1us, in.now) : Reading(count.error());
  return reading.is(Reason::not_supported) ? Outcome::unsupported : Outcome::ok;
}

Outcome read_npu_clock(const Call &in) {
  constexpr auto kClock = device_metric("clock_graphics_mhz"), kHighest = device_metric("clock_max_graphics_mhz");
  if (!is_npu(in.device)) return Outcome::unsupported;
  const auto &folder = in.device.card.device;
  // The driver has changed the file's name.
  const std::array<SensorFile, 4> files{{{folder + "/npu_current_frequency_mhz", kClock},
                                         {folder + "/freq/current_freq", kClock},
                                         {folder + "/npu_max_frequency_mhz", kHighest},
                                         {folder + "/freq/hw_max_freq", kHighest}}};
  return read_files(in, files, std::array{kClock, kHighest}, false);
}

}  // namespace gpulse::intel

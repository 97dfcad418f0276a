// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/reader_calls.hpp"

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"
#include "source/api/errno_reason.hpp"
#include "source/host/parse.hpp"
#include "source/nvml/code.hpp"

namespace gpulse::nvml {

namespace {

void fill(Row &row, std::span<const MetricId> ids, const Reading &reading) {
  for (const auto id : ids) row[id] = reading;
}

// For a GPU that shares the host's memory: what is available to programs is what the host has available.
Outcome memory_of_host(const Driver &driver, Frame &frame) {
  constexpr auto kTotal = device_metric("memory_total_bytes");
  const auto text = driver.root.read("/proc/meminfo");
  const auto reason = text ? Reason::error : errno_reason(errno);
  const auto memory = text ? host::parse_meminfo(*text) : std::nullopt;
  fill(frame.row, kMemoryMetrics, reason);
  frame.row[device_metric("memory_reserved_bytes")] = Reason::not_supported;
  if (!memory) return Outcome::ok;
  const auto available = std::min(memory->available_bytes, memory->total_bytes);
  frame.row[kTotal] = plausible(kTotal, memory->total_bytes);
  frame.row[device_metric("memory_used_bytes")] = plausible(kTotal, memory->total_bytes - available);
  frame.row[device_metric("memory_free_bytes")] = plausible(kTotal, available);
  return Outcome::ok;
}

// Judging by its name and by having no window into its own memory: a card that merely refuses to report its memory must
// not show the host's.
bool shares_memory(const Driver &driver, const DeviceData &device) {
  Bar1Memory window{};
  return device.integrated && driver.api->bar1(device.handle, &window) != Return::success;
}

// A display server keeps its graphics context open all day: that alone is no work. An unknown load is.
bool is_at_work(const Frame &frame) {
  constexpr auto kCompute = static_cast<std::uint8_t>(ProcessType::compute);
  return frame.row[device_metric("gpu_utilization_percent")].value_or(1) > 0 ||
         std::any_of(frame.processes.begin(), frame.processes.end(),
                     [](const ProcessUse &use) { return (use.types & kCompute) != 0; });
}

}  // namespace

[[gnu::hot]] Outcome put(Frame &frame, MetricId id, Return code, double value) {
  if (auto *reading = frame.find(id)) *reading = code == Return::success ? Reading(value) : reason_of(code);
  return outcome_of(code);
}

[[gnu::hot]] Outcome utilization(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame) {
  Utilization use{};
  const auto code = driver.api->utilization(device.handle, &use);
  put(frame, device_metric("memory_utilization_percent"), code, use.memory);
  const auto outcome = put(frame, device_metric("gpu_utilization_percent"), code, use.gpu);
  if (is_at_work(frame)) device.last_work = now;
  return outcome;
}

[[gnu::hot]] Outcome memory(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  if (device.memory_of_host) return memory_of_host(driver, frame);
  MemoryV2 now{.version = version_word<MemoryV2>(2), .total = 0, .reserved = 0, .free = 0, .used = 0};
  auto code = driver.api->memory_v2(device.handle, &now);
  const bool tells_reserved = code == Return::success;
  if (try_older(code)) {
    Memory old{};
    if (const auto older = driver.api->memory(device.handle, &old); older != Return::function_not_found) code = older;
    now = {.version = 0, .total = old.total, .reserved = 0, .free = old.free, .used = old.used};
  }
  // Integrated devices do not support it, or report a total of 0: their memory is the host's.
  const bool none = code == Return::not_supported || (code == Return::success && now.total == 0);
  if (none && shares_memory(driver, device)) {
    device.memory_of_host = true;
    return memory_of_host(driver, frame);
  }
  if (code != Return::success) {
    fill(frame.row, kMemoryMetrics, reason_of(code));
    return outcome_of(code);
  }
  if (now.total == 0) {
    fill(frame.row, kMemoryMetrics, Reason::not_supported);
    return Outcome::unsupported;
  }
  constexpr auto kTotal = device_metric("memory_total_bytes");
  const auto part = [&](std::uint64_t bytes) {
    return bytes <= now.total ? Reading(static_cast<double>(bytes)) : Reason::out_of_range;
  };
  frame.row[kTotal] = part(now.total);
  frame.row[device_metric("memory_used_bytes")] = part(now.used);
  frame.row[device_metric("memory_free_bytes")] = part(now.free);
  frame.row[device_metric("memory_reserved_bytes")] = tells_reserved ? part(now.reserved) : Reason::not_supported;
  return Outcome::ok;
}

Outcome bar1(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  Bar1Memory window{};
  const auto code = driver.api->bar1(device.handle, &window);
  put(frame, device_metric("bar1_used_bytes"), code, static_cast<double>(window.used));
  return put(frame, device_metric("bar1_total_bytes"), code, static_cast<double>(window.total));
}

Outcome encoder_sessions(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint32_t sessions = 0;
  std::uint32_t fps = 0;
  std::uint32_t latency_us = 0;
  const auto code = driver.api->encoder_stats(device.handle, &sessions, &fps, &latency_us);
  put(frame, device_metric("encoder_average_fps"), code, fps);
  put(frame, device_metric("encoder_latency_seconds"), code, latency_us * 1e-6);
  return put(frame, device_metric("encoder_sessions"), code, sessions);
}

Outcome performance_state(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  constexpr std::uint32_t kUnknown = 32;
  constexpr auto kId = device_metric("performance_state");
  std::uint32_t state = kUnknown;
  const auto code = driver.api->performance_state(device.handle, &state);
  if (code == Return::success && state == kUnknown) {
    frame.row[kId] = Reason::not_supported;
    return Outcome::ok;
  }
  return put(frame, kId, code, state);
}

Outcome throttle(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  constexpr auto kId = device_metric("throttle_reasons");
  constexpr std::uint64_t kNamed = 0x1FF;
  constexpr std::uint64_t kOther = std::uint64_t{1} << 12U;
  const auto &api = *driver.api;
  std::uint64_t bits = 0;
  auto code = api.event_reasons(device.handle, &bits);
  if (try_older(code)) {
    if (const auto older = api.throttle_reasons(device.handle, &bits); older != Return::function_not_found)
      code = older;
  }
  if (code != Return::success) return put(frame, kId, code, 0);
  if (device.supported_reasons == 0) {
    auto asked = api.event_reasons_supported(device.handle, &device.supported_reasons);
    if (try_older(asked)) asked = api.throttle_reasons_supported(device.handle, &device.supported_reasons);
    // Without a mask every bit is valid.
    if (asked != Return::success || device.supported_reasons == 0) device.supported_reasons = ~std::uint64_t{0};
  }
  bits &= device.supported_reasons;
  frame.row[kId] = static_cast<double>((bits & kNamed) | ((bits & ~kNamed) != 0 ? kOther : 0));
  return Outcome::ok;
}

Outcome energy(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint64_t millijoules = 0;
  const auto code = driver.api->energy(device.handle, &millijoules);
  return put(frame, device_metric("energy_joules"), code, static_cast<double>(millijoules) * kMilli);
}

[[gnu::hot]] Outcome temperature(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  TemperatureReading reading{.version = version_word<TemperatureReading>(1), .sensor = 0, .celsius = 0};
  auto code = driver.api->temperature_v(device.handle, &reading);
  if (try_older(code)) {
    std::uint32_t celsius = 0;
    if (const auto older = driver.api->temperature(device.handle, 0, &celsius); older != Return::function_not_found) {
      code = older;
    }
    reading.celsius = static_cast<std::int32_t>(celsius);
  }
  return put(frame, device_metric("temperature_gpu_celsius"), code, reading.celsius);
}

Outcome temperature_margin(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  MarginTemperature margin{.version = version_word<MarginTemperature>(1), .celsius = 0};
  const auto code = driver.api->temperature_margin(device.handle, &margin);
  return put(frame, device_metric("temperature_margin_celsius"), code, margin.celsius);
}

Outcome fans(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  constexpr auto kCount = device_metric("fan_count");
  constexpr auto kSpeed = device_metric("fan_speed_percent");
  constexpr std::uint32_t kMaxFans = 32;
  const auto &api = *driver.api;
  if (device.fans == 0) {
    const auto code = api.fan_count(device.handle, &device.fans);
    if (code != Return::success) device.fans = 0;
    frame.row[kCount] = code == Return::success ? plausible(kCount, device.fans) : reason_of(code);
    device.fans = std::min(device.fans, kMaxFans);
    if (code == Return::success && device.fans == 0) {
      frame.row[kSpeed] = Reason::not_supported;
      return Outcome::unsupported;
    }
  }
  std::uint32_t fastest = 0;
  auto code = Return::function_not_found;
  for (std::uint32_t fan = 0; fan < std::max(device.fans, 1U); ++fan) {
    std::uint32_t percent = 0;
    code = api.fan_speed_v2(device.handle, fan, &percent);
    if (code != Return::success) break;
    fastest = std::max(fastest, percent);
  }
  if (try_older(code)) {
    if (const auto older = api.fan_speed(device.handle, &fastest); older != Return::function_not_found) code = older;
  }
  return put(frame, kSpeed, code, fastest);
}

Outcome fan_rpm(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint32_t fastest = 0;
  auto code = Return::not_supported;
  for (std::uint32_t fan = 0; fan < std::max(device.fans, 1U); ++fan) {
    FanSpeedInfo info{.version = version_word<FanSpeedInfo>(1), .fan = fan, .rpm = 0};
    code = driver.api->fan_rpm(device.handle, &info);
    if (code != Return::success) break;
    fastest = std::max(fastest, info.rpm);
  }
  return put(frame, device_metric("fan_speed_rpm"), code, fastest);
}

// Bytes per second of one lane, for generations 1 to 7.
constexpr std::array kLaneBytesPerSecond{0.25e9, 0.5e9, 0.985e9, 1.97e9, 3.94e9, 7.56e9, 15.1e9};

Outcome pcie_max(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint32_t generation = 0;
  std::uint32_t width = 0;
  const auto first = driver.api->pcie_generation_max(device.handle, &generation);
  const auto second = driver.api->pcie_width_max(device.handle, &width);
  const auto outcome = put(frame, device_metric("pcie_link_generation_max"), first, generation);
  put(frame, device_metric("pcie_link_width_max"), second, width);
  // The link of an integrated GPU, "1 x1", limits nothing: its data do not go that way.
  if (first == Return::success && second == Return::success && generation >= 1 && !device.integrated) {
    const auto lane = kLaneBytesPerSecond[std::min<std::size_t>(generation, kLaneBytesPerSecond.size()) - 1];
    device.link_bytes_per_second = lane * width;
  }
  return outcome;
}

Outcome nvlinks(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  constexpr auto kId = device_metric("nvlink_links_active");
  constexpr std::uint32_t kMaxLinks = 36;
  std::uint32_t active = 0;
  for (std::uint32_t link = 0; link < kMaxLinks; ++link) {
    std::uint32_t state = 0;
    const auto code = driver.api->nvlink_state(device.handle, link, &state);
    if (code == Return::success) {
      active += state == 1 ? 1 : 0;
      continue;
    }
    // There are no more links; if it is the first, the device has none.
    if (link == 0 || !try_older(code)) return put(frame, kId, code, 0);
    break;
  }
  frame.row[kId] = active;
  return Outcome::ok;
}

Outcome ecc_sram(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  SramEccErrorStatus status{};
  status.version = version_word<SramEccErrorStatus>(1);
  const auto code = driver.api->ecc_sram(device.handle, &status);
  const auto count = [&](MetricId id, std::uint64_t errors) { put(frame, id, code, static_cast<double>(errors)); };
  count(detail_metric("ecc_sram_parity_volatile_total"), status.volatile_uncorrected_parity);
  count(detail_metric("ecc_sram_secded_volatile_total"), status.volatile_uncorrected_sec_ded);
  count(detail_metric("ecc_sram_parity_total"), status.aggregate_uncorrected_parity);
  count(detail_metric("ecc_sram_secded_total"), status.aggregate_uncorrected_sec_ded);
  count(detail_metric("ecc_sram_in_l2_total"), status.aggregate_l2);
  count(detail_metric("ecc_sram_in_sm_total"), status.aggregate_sm);
  count(detail_metric("ecc_sram_in_mcu_total"), status.aggregate_mcu);
  count(detail_metric("ecc_sram_in_pcie_total"), status.aggregate_pcie);
  count(detail_metric("ecc_sram_in_other_total"), status.aggregate_other);
  return put(frame, device_metric("ecc_sram_threshold_exceeded"), code, status.threshold_exceeded != 0 ? 1 : 0);
}

Outcome remapped_rows(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  std::uint32_t corrected = 0;
  std::uint32_t uncorrected = 0;
  std::uint32_t pending = 0;
  std::uint32_t failure = 0;
  const auto code = driver.api->remapped_rows(device.handle, &corrected, &uncorrected, &pending, &failure);
  put(frame, device_metric("remapped_rows_corrected_total"), code, corrected);
  put(frame, device_metric("remapped_rows_uncorrected_total"), code, uncorrected);
  put(frame, device_metric("remapped_rows_pending"), code, pending);
  return put(frame, device_metric("remapped_rows_failure"), code, failure);
}

Outcome remapped_banks(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  RowRemapperHistogram banks{};
  const auto code = driver.api->remapper_histogram(device.handle, &banks);
  put(frame, device_metric("remapped_banks_max"), code, banks.max);
  put(frame, device_metric("remapped_banks_high"), code, banks.high);
  put(frame, device_metric("remapped_banks_partial"), code, banks.partial);
  put(frame, device_metric("remapped_banks_low"), code, banks.low);
  return put(frame, device_metric("remapped_banks_none"), code, banks.none);
}

Outcome attributes(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  DeviceAttributes parts{};
  const auto code = driver.api->attributes(device.handle, &parts);
  put(frame, detail_metric("copy_engine_count"), code, parts.copy_engines);
  put(frame, detail_metric("encoder_count"), code, parts.encoders);
  put(frame, detail_metric("decoder_count"), code, parts.decoders);
  put(frame, detail_metric("jpeg_count"), code, parts.jpegs);
  put(frame, detail_metric("ofa_count"), code, parts.ofas);
  return put(frame, device_metric("multiprocessor_count"), code, parts.multiprocessors);
}

Outcome instance(const Driver &, DeviceData &device, Monotonic, Frame &frame) {
  if (!device.instance) return Outcome::unsupported;
  if (auto *id = frame.find(detail_metric("gpu_instance_id"))) *id = device.gpu_instance;
  if (auto *id = frame.find(detail_metric("compute_instance_id"))) *id = device.compute_instance;
  return Outcome::ok;
}

Outcome gpm(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame) {
  if (device.gpm == nullptr) {
    GpmSupport support{.version = 1, .supported = 0};
    const auto code = driver.api->gpm_support(device.instance ? device.parent : device.handle, &support);
    if (code != Return::success) {
      fill(frame.row, gpm_metrics(), reason_of(code));
      return outcome_of(code);
    }
    if (support.supported == 0 || (device.instance && device.gpu_instance == kNoInstance)) return Outcome::unsupported;
    device.gpm = std::make_shared<GpmState>(driver.api);
  }
  return device.gpm->read(driver, device, now, frame);
}

namespace {

// Combines the driver's samples since the last reading; `fold` gets their sum, maximum and count.
template <std::uint32_t Type, MetricId Id, SampleState DeviceData::*State, class Fold>
Outcome fold_samples(const Driver &driver, DeviceData &device, Frame &frame, Fold fold) {
  auto &state = device.*State;
  const auto call = [&](std::uint64_t since, std::uint32_t &count, Sample *buffer, ValueType &type) {
    return driver.api->samples(device.handle, Type, since, &type, &count, buffer);
  };
  auto type = ValueType::u32;
  auto count = static_cast<std::uint32_t>(state.buffer.size());
  auto code = Return::success;
  if (state.buffer.empty()) {
    code = call(0, count, nullptr, type);
    if (code == Return::not_found) return Outcome::ok;
    if (code != Return::success) return put(frame, Id, code, 0);
    state.buffer.resize(std::clamp<std::size_t>(count, 1, 4096));
    count = static_cast<std::uint32_t>(state.buffer.size());
  }
  code = call(state.last_us, count, state.buffer.data(), type);
  if (code == Return::not_found) return Outcome::ok;            // nothing newer: keep the last reading
  if (code == Return::insufficient_size) state.buffer.clear();  // the driver's buffer has grown: ask for the size again
  if (code != Return::success) return put(frame, Id, code, 0);
  const bool first = state.last_us == 0;
  double sum = 0;
  double highest = 0;
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, state.buffer.size()); ++i) {
    const auto &sample = state.buffer[i];
    if (sample.time_us <= state.last_us) continue;
    const double value = type == ValueType::f64 ? sample.value.f64 : static_cast<double>(sample.value.u32);
    sum += value;
    highest = std::max(highest, value);
    ++used;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(count, state.buffer.size()); ++i) {
    state.last_us = std::max(state.last_us, state.buffer[i].time_us);
  }
  if (!first && used > 0) frame.row[Id] = plausible(Id, fold(sum, highest, used));
  return Outcome::ok;
}

}  // namespace

Outcome power_peak(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  return fold_samples<0, device_metric("power_peak_watts"), &DeviceData::power_samples>(
      driver, device, frame, [](double, double highest, std::uint32_t) { return highest * kMilli; });
}

Outcome utilization_mean(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  return fold_samples<1, device_metric("gpu_utilization_mean_percent"), &DeviceData::utilization_samples>(
      driver, device, frame, [](double sum, double, std::uint32_t count) { return sum / count; });
}

std::span<const MetricId> xid_metrics() { return kList<device_metric("xid_last"), device_metric("xid_total")>; }

Outcome xids(const Driver & /*driver*/, DeviceData &device, Monotonic, Frame &frame) {
  const auto listening = device.instance ? Return::not_supported : device.xid->listening.load();
  if (listening != Return::success) {
    fill(frame.row, xid_metrics(), reason_of(listening));
    return outcome_of(listening) == Outcome::unsupported ? Outcome::unsupported : Outcome::ok;
  }
  const auto last = device.xid->last.load();
  frame.row[device_metric("xid_last")] = last >= 0 ? Reading(static_cast<double>(last)) : Reason::not_sampled;
  frame.row[device_metric("xid_total")] = static_cast<double>(device.xid->total.load());
  return Outcome::ok;
}

Outcome numa_node(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  auto &reading = frame.row[device_metric("numa_node")] = Reason::not_supported;
  if (device.pci.empty()) return Outcome::unsupported;
  if (const auto node = driver.root.read("/sys/bus/pci/devices/" + device.pci + "/numa_node", 64)) {
    const auto number = parse_integer<int>(trim(*node));
    if (number && *number >= 0) reading = *number;
  }
  return reading.has_value() ? Outcome::ok : Outcome::unsupported;
}

}  // namespace gpulse::nvml

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "source/nvml/code.hpp"
#include "source/nvml/detail_calls.hpp"
#include "source/nvml/reader_calls.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::uint32_t kMaxItems = 1U << 16U;

// Reads a list whose size the driver is asked for first; it may grow between the two calls. `call` gets the count and
// room for as many items.
template <class Item, class Call>
Return read_list(std::vector<Item> &items, Call call) {
  items.clear();
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto count = static_cast<std::uint32_t>(items.size());
    const auto code = call(count, items.empty() ? nullptr : items.data());
    const bool only_size = code == Return::success && count > items.size();
    if (code == Return::success && !only_size) {
      items.resize(count);
      return code;
    }
    if (!only_size && code != Return::insufficient_size) return code;
    if (count > kMaxItems) return Return::insufficient_size;
    items.resize(std::max<std::size_t>(count, items.size() + 1));
  }
  return Return::insufficient_size;
}

void add_pages(std::vector<RetiredPage> &pages, const std::vector<std::uint64_t> &addresses,
               const std::vector<std::uint64_t> &times, bool double_bit) {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto time = i < times.size() ? static_cast<std::int64_t>(times[i]) : 0;
    pages.push_back({.address = addresses[i], .time = time, .double_bit = double_bit});
  }
}

// Pages retired for one cause; the newer call also gives the time.
Return read_pages(const Api &api, Handle handle, std::uint32_t cause, std::vector<RetiredPage> &pages) {
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint64_t> times;
  auto code = read_list(addresses, [&](std::uint32_t &count, std::uint64_t *out) {
    times.assign(count, 0);
    return api.retired_pages_v2(handle, cause, &count, out, times.empty() ? nullptr : times.data());
  });
  if (try_older(code)) {
    times.clear();
    const auto older = read_list(addresses, [&](std::uint32_t &count, std::uint64_t *out) {
      return api.retired_pages(handle, cause, &count, out);
    });
    if (older != Return::function_not_found) code = older;
  }
  if (code == Return::success) add_pages(pages, addresses, times, cause == 1);
  return code;
}

struct SampledKind {
  SampleKind kind;
  std::uint32_t type;  // the driver's number
  double scale = 1;
};
constexpr std::array kSampled{
    SampledKind{SampleKind::power, 0, kMilli}, SampledKind{SampleKind::gpu, 1},
    SampledKind{SampleKind::memory, 2},        SampledKind{SampleKind::encoder, 3},
    SampledKind{SampleKind::decoder, 4},       SampledKind{SampleKind::sm_clock, 5},
    SampledKind{SampleKind::memory_clock, 6},  SampledKind{SampleKind::jpeg, 8},
    SampledKind{SampleKind::ofa, 9},
};
static_assert(kSampled.size() == kSampleKinds);

SampleWindow window_of(const std::vector<Sample> &samples, ValueType type, double scale) {
  double sum = 0;
  double weighed = 0;  // each sample stands for the time since the previous one
  double lowest = 0;
  double highest = 0;
  std::uint64_t oldest = samples.front().time_us;
  std::uint64_t newest = oldest;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto &sample = samples[i];
    const double value = type == ValueType::f64 ? sample.value.f64 : static_cast<double>(sample.value.u32);
    sum += value;
    if (i > 0) weighed += value * static_cast<double>(sample.time_us - samples[i - 1].time_us);
    lowest = i == 0 ? value : std::min(lowest, value);
    highest = i == 0 ? value : std::max(highest, value);
    oldest = std::min(oldest, sample.time_us);
    newest = std::max(newest, sample.time_us);
  }
  const auto count = static_cast<double>(samples.size());
  return {.count = count,
          .seconds = static_cast<double>(newest - oldest) * 1e-6,
          .max = highest * scale,
          .min = lowest * scale,
          .mean = (newest > oldest ? weighed / static_cast<double>(newest - oldest) : sum / count) * scale};
}

}  // namespace

Outcome supported_clocks(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  constexpr auto kCount = detail_metric("supported_clock_count");
  const auto &api = *driver.api;
  auto &clocks = frame.details->clocks;
  clocks.clear();
  std::vector<std::uint32_t> memory;
  auto code = read_list(memory, [&](std::uint32_t &count, std::uint32_t *out) {
    return api.supported_memory_clocks(device.handle, &count, out);
  });
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < memory.size() && code == Return::success; ++i) {
    std::vector<std::uint32_t> graphics;
    code = read_list(graphics, [&](std::uint32_t &count, std::uint32_t *out) {
      return api.supported_graphics_clocks(device.handle, memory[i], &count, out);
    });
    pairs += graphics.size();
    clocks.push_back(
        {.memory_mhz = static_cast<double>(memory[i]), .graphics_mhz = {graphics.begin(), graphics.end()}});
  }
  if (code != Return::success) clocks.clear();
  return put(frame, kCount, code, static_cast<double>(pairs));
}

Outcome retired_page_list(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  // The readers of the two counts may just have been refused.
  constexpr auto kSingle = device_metric("retired_pages_single_bit_total");
  if (frame.row[kSingle].is(Reason::not_supported)) {
    return put(frame, detail_metric("retired_page_count"), Return::not_supported, 0);
  }
  auto &pages = frame.details->retired_pages;
  pages.clear();
  auto code = read_pages(*driver.api, device.handle, 0, pages);
  if (code == Return::success) code = read_pages(*driver.api, device.handle, 1, pages);
  if (code != Return::success) pages.clear();
  return put(frame, detail_metric("retired_page_count"), code, static_cast<double>(pages.size()));
}

Outcome accounted_processes(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  const auto &api = *driver.api;
  auto &accounted = frame.details->accounted;
  accounted.clear();
  std::vector<std::uint32_t> pids;
  auto code = read_list(
      pids, [&](std::uint32_t &count, std::uint32_t *out) { return api.accounting_pids(device.handle, &count, out); });
  if (code != Return::success) pids.clear();
  for (const auto pid : pids) {
    AccountingStats stats{};
    const auto one = api.accounting_stats(device.handle, pid, &stats);
    if (one == Return::not_found) continue;  // replaced by a newer one in between
    const auto told = [&](std::uint64_t value, std::uint64_t unknown) {
      if (one != Return::success) return reason_of(one);
      return value == unknown ? Reading(Reason::not_supported) : Reading(static_cast<double>(value));
    };
    constexpr std::uint32_t kNoShare = 0xFFFFFFFF;
    accounted.push_back({.pid = pid,
                         .gpu_percent = told(stats.gpu_utilization, kNoShare),
                         .memory_percent = told(stats.memory_utilization, kNoShare),
                         .memory_max_bytes = told(stats.max_memory, kValueUnknown),
                         .running_seconds = one == Return::success
                                                ? Reading(static_cast<double>(stats.time_ms) * kMilli)
                                                : reason_of(one),
                         .running = one == Return::success && stats.running != 0});
  }
  return put(frame, detail_metric("accounted_process_count"), code, static_cast<double>(accounted.size()));
}

Outcome sample_windows(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  double kept = 0;
  auto first_refusal = Return::success;
  std::vector<Sample> samples;
  for (const auto &[kind, type, scale] : kSampled) {
    auto value_type = ValueType::u32;
    const auto code = read_list(samples, [&](std::uint32_t &count, Sample *out) {
      return driver.api->samples(device.handle, type, 0, &value_type, &count, out);
    });
    auto &window = (*frame.details)[kind];
    if (code == Return::success && !samples.empty()) {
      window = window_of(samples, value_type, scale);
      ++kept;
      continue;
    }
    const auto reason = code == Return::success ? reason_of(Return::not_found) : reason_of(code);
    window = {.count = reason, .seconds = reason, .max = reason, .min = reason, .mean = reason};
    if (first_refusal == Return::success && code != Return::success) first_refusal = code;
    if (const auto outcome = outcome_of(code); outcome == Outcome::lost || outcome == Outcome::gone) {
      return put(frame, detail_metric("sample_window_count"), code, 0);
    }
  }
  return put(frame, detail_metric("sample_window_count"), kept > 0 ? Return::success : first_refusal, kept);
}

}  // namespace gpulse::nvml

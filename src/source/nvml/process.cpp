// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/process.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/text.hpp"
#include "source/nvml/code.hpp"

namespace gpulse::nvml {

namespace {

using namespace std::chrono_literals;

constexpr std::array kProcessMetrics{
    device_metric("process_count"),
    process_metric("gpu_memory_bytes"),
    process_metric("gpu_utilization_percent"),
    process_metric("memory_utilization_percent"),
    process_metric("encoder_utilization_percent"),
    process_metric("decoder_utilization_percent"),
    process_metric("jpeg_utilization_percent"),
    process_metric("ofa_utilization_percent"),
};
constexpr std::span kEngineMetrics = std::span(kProcessMetrics).subspan<2>();

constexpr std::uint64_t kSecond = 1'000'000;  // in the driver's microseconds
constexpr std::size_t kFirstRows = 64;
constexpr std::size_t kMaxRows = 1U << 16U;
constexpr std::byte kUntouched{0xA5};

struct ListedProcess {
  std::uint32_t pid;
  std::uint64_t memory;
  std::uint32_t gpu_instance;
};

// One process list, in the three versions that drivers have had.
struct ListCall {
  const Api::ProcessList &v3, &v2, &v1;
  ProcessType type;
};

// Rows of the _v3 call have 24 bytes, but 32 on drivers 535.43 to 535.86: the bytes that it left untouched show which.
std::size_t v3_stride(std::span<const std::byte> buffer, std::size_t rows) {
  const auto narrow = rows * sizeof(ProcessInfoV2);
  const auto wide = rows * sizeof(ProcessInfoV3Wide);
  const auto beyond = buffer.subspan(narrow, wide - narrow);
  const bool touched = std::any_of(beyond.begin(), beyond.end(), [](std::byte b) { return b != kUntouched; });
  return touched ? sizeof(ProcessInfoV3Wide) : sizeof(ProcessInfoV2);
}

Return call_list(const Api::ProcessList &call, Handle handle, std::vector<std::byte> &buffer, std::uint32_t &rows,
                 bool mark = false) {
  if (!call) return Return::function_not_found;
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (buffer.empty()) buffer.resize(kFirstRows * sizeof(ProcessInfoV3Wide));
    if (mark) std::fill(buffer.begin(), buffer.end(), kUntouched);
    const auto capacity = static_cast<std::uint32_t>(buffer.size() / sizeof(ProcessInfoV3Wide));
    rows = capacity;
    const auto code = call(handle, &rows, buffer.data());
    if (code == Return::success) {
      rows = std::min(rows, capacity);
      return code;
    }
    if (code != Return::insufficient_size) return code;
    // Processes may start between two calls, so leave room for more.
    const auto wanted = std::max<std::size_t>(rows, capacity) + kFirstRows;
    if (wanted > kMaxRows) return code;
    buffer.resize(wanted * sizeof(ProcessInfoV3Wide));
  }
  return Return::insufficient_size;
}

template <class Info>
ListedProcess row_at(const std::byte *at) {
  Info info;
  std::memcpy(&info, at, sizeof info);
  if constexpr (std::is_same_v<Info, ProcessInfoV1>) {
    return {info.pid, info.used_gpu_memory, kNoInstance};
  } else {
    return {info.pid, info.used_gpu_memory, info.gpu_instance};
  }
}

void fill_engines(const DeviceData &device, std::uint32_t pid, Row &row) {
  constexpr auto kSm = process_metric("gpu_utilization_percent");
  constexpr auto kMemory = process_metric("memory_utilization_percent");
  constexpr auto kEncoder = process_metric("encoder_utilization_percent");
  constexpr auto kDecoder = process_metric("decoder_utilization_percent");
  constexpr auto kJpeg = process_metric("jpeg_utilization_percent");
  constexpr auto kOfa = process_metric("ofa_utilization_percent");
  const auto known = device.processes.engines.find(pid);
  if (known == device.processes.engines.end()) {
    const auto &reason = device.processes.engines_reason;
    for (const auto id : {kSm, kMemory, kEncoder, kDecoder}) row[id] = reason;
    if (device.processes.has_jpeg) row[kJpeg] = row[kOfa] = reason;
    return;
  }
  const auto &engines = known->second;
  row[kSm] = plausible(kSm, engines.sm);
  row[kMemory] = plausible(kMemory, engines.memory);
  row[kEncoder] = plausible(kEncoder, engines.encoder);
  row[kDecoder] = plausible(kDecoder, engines.decoder);
  if (!device.processes.has_jpeg) return;
  row[kJpeg] = plausible(kJpeg, engines.jpeg);
  row[kOfa] = plausible(kOfa, engines.ofa);
}

void add_process(const ListedProcess &listed, ProcessType type, const DeviceData &device, Frame &frame) {
  // 0 is the driver's own entry; instances list their processes themselves.
  if (listed.pid == 0 || (device.split && listed.gpu_instance != kNoInstance)) return;
  auto at = std::find_if(frame.processes.begin(), frame.processes.end(),
                         [&](const ProcessUse &use) { return use.pid == listed.pid; });
  if (at == frame.processes.end()) {
    frame.processes.push_back({.pid = listed.pid});
    at = std::prev(frame.processes.end());
    fill_engines(device, listed.pid, at->row);
  }
  at->types |= static_cast<std::uint8_t>(type);
  auto &memory = at->row[process_metric("gpu_memory_bytes")];
  if (listed.memory == kValueUnknown) return;
  // A process in two lists has the same memory in both, so do not add it up.
  memory = std::max(memory.value_or(0), static_cast<double>(listed.memory));
}

// Adds the rows of one list, which are `stride` bytes apart.
template <class Info>
void add_rows(const ListCall &list, std::uint32_t rows, std::size_t stride, const DeviceData &device, Frame &frame) {
  const auto *buffer = device.processes.buffer.data();
  for (std::uint32_t i = 0; i < rows; ++i) add_process(row_at<Info>(buffer + i * stride), list.type, device, frame);
}

Return list_processes(const ListCall &list, DeviceData &device, Frame &frame) {
  auto &buffer = device.processes.buffer;
  std::uint32_t rows = 0;
  // _v2 has the same row size on every driver; _v3 comes last because it has had two.
  auto code = call_list(list.v2, device.handle, buffer, rows);
  if (code == Return::success) {
    add_rows<ProcessInfoV2>(list, rows, sizeof(ProcessInfoV2), device, frame);
    return code;
  }
  if (!try_older(code)) return code;
  if (const auto older = call_list(list.v1, device.handle, buffer, rows); older == Return::success) {
    add_rows<ProcessInfoV1>(list, rows, sizeof(ProcessInfoV1), device, frame);
    return older;
  } else if (older != Return::function_not_found) {
    code = older;
  }
  if (!list.v3) return code;
  code = call_list(list.v3, device.handle, buffer, rows, true);
  if (code == Return::success) add_rows<ProcessInfoV2>(list, rows, v3_stride(buffer, rows), device, frame);
  return code;
}

// A share that cannot be is told as such, each for itself; but where the time cannot be either, the row is garbage.
bool believable(const ProcessUtilizationInfo &row, std::uint64_t wall_us) {
  const bool shares = row.sm <= 100 && row.memory <= 100 && row.encoder <= 100 && row.decoder <= 100;
  return row.pid != 0 && (shares || row.time_us <= wall_us + kSecond);
}

void keep_engines(ProcessState &state, const ProcessUtilizationInfo &row, Monotonic now) {
  if (row.time_us <= state.last_seen_us) return;
  auto &engines = state.engines[row.pid];
  if (row.time_us < engines.time_us) return;
  engines = {.time_us = row.time_us,
             .seen = now,
             .sm = row.sm,
             .memory = row.memory,
             .encoder = row.encoder,
             .decoder = row.decoder,
             .jpeg = row.jpeg,
             .ofa = row.ofa};
}

// Reads the rows since the last call into the front of state.engine_rows.
Return call_engines_info(const Api &api, Handle handle, ProcessState &state, std::size_t &rows) {
  if (!api.process_utilization_info) return Return::function_not_found;
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (state.engine_rows.empty()) state.engine_rows.resize(kFirstRows);
    ProcessesUtilizationInfo query{.version = version_word<ProcessesUtilizationInfo>(1),
                                   .count = static_cast<std::uint32_t>(state.engine_rows.size()),
                                   .last_seen_us = state.last_seen_us,
                                   .processes = state.engine_rows.data()};
    const auto code = api.process_utilization_info(handle, &query);
    if (code == Return::insufficient_size && query.count <= kMaxRows) {
      state.engine_rows.resize(std::max<std::size_t>(query.count, state.engine_rows.size()) + kFirstRows);
      continue;
    }
    rows = std::min<std::size_t>(query.count, state.engine_rows.size());
    return code;
  }
  return Return::insufficient_size;
}

Return call_engines_samples(const Api &api, Handle handle, ProcessState &state, std::size_t &rows) {
  if (!api.process_utilization) return Return::function_not_found;
  for (int attempt = 0; attempt < 4; ++attempt) {
    // The call refuses a buffer smaller than its own, and says how many rows it needs.
    auto &samples = state.engine_samples;
    auto count = static_cast<std::uint32_t>(samples.size());
    const auto code =
        api.process_utilization(handle, count == 0 ? nullptr : samples.data(), &count, state.last_seen_us);
    const bool asked_size = code == Return::success && samples.empty() && count > 0;
    if ((code == Return::insufficient_size || asked_size) && count <= kMaxRows) {
      samples.resize(std::max<std::size_t>(count, samples.size() + 1));
      continue;
    }
    rows = std::min<std::size_t>(count, samples.size());
    if (state.engine_rows.size() < rows) state.engine_rows.resize(rows);
    std::transform(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(rows), state.engine_rows.begin(),
                   [](const ProcessUtilizationSample &s) -> ProcessUtilizationInfo {
                     return {s.time_us, s.pid, s.sm, s.memory, s.encoder, s.decoder, 0, 0};
                   });
    return code;
  }
  return Return::insufficient_size;
}

// The driver's name for a process that /proc does not show; asked once per process.
void fill_names(const Driver &driver, DeviceData &device, Frame &frame) {
  auto &names = device.processes.names;
  for (auto &use : frame.processes) {
    const auto [at, is_new] = names.try_emplace(use.pid);
    if (is_new && !driver.root.exists("/proc/" + std::to_string(use.pid))) {
      std::array<char, 1024> buffer{};
      const auto code = driver.api->process_name(use.pid, buffer.data(), static_cast<std::uint32_t>(buffer.size()));
      if (code == Return::success) at->second.assign(buffer.data(), strnlen(buffer.data(), buffer.size()));
    }
    use.name = at->second;
  }
  if (names.size() <= frame.processes.size()) return;
  std::erase_if(names, [&](const auto &known) {
    return std::none_of(frame.processes.begin(), frame.processes.end(),
                        [&](const ProcessUse &use) { return use.pid == known.first; });
  });
}

}  // namespace

std::span<const MetricId> process_metrics() { return kProcessMetrics; }
std::span<const MetricId> process_engine_metrics() { return kEngineMetrics; }

Outcome read_processes(const Driver &driver, DeviceData &device, Monotonic /*now*/, Frame &frame) {
  const auto &api = *driver.api;
  const std::array lists{ListCall{api.compute_v3, api.compute_v2, api.compute_v1, ProcessType::compute},
                         ListCall{api.graphics_v3, api.graphics_v2, api.graphics_v1, ProcessType::graphics},
                         ListCall{api.mps_v3, api.mps_v2, api.mps_v1, ProcessType::mps}};
  constexpr auto kCount = device_metric("process_count");
  frame.processes.clear();
  auto outcome = Outcome::unsupported;
  Reading failed = Reason::not_supported;
  bool listed_compute = false;
  bool broken = false;
  for (const auto &list : lists) {
    const auto code = list_processes(list, device, frame);
    const auto one = code == Return::success ? Outcome::ok : outcome_of(code);
    if (one == Outcome::lost || one == Outcome::gone) {
      frame.row[kCount] = reason_of(code);
      return one;
    }
    if (one == Outcome::ok) outcome = Outcome::ok;
    listed_compute = listed_compute || (list.type == ProcessType::compute && code == Return::success);
    if (code == Return::success) continue;
    if (!broken) failed = reason_of(code);
    broken = broken || !try_older(code);
  }
  // A list that failed is not empty. Old drivers lack the others, but every driver has the list of compute processes.
  const bool whole = listed_compute && !broken;
  fill_names(driver, device, frame);
  frame.row[kCount] = whole ? Reading(static_cast<double>(frame.processes.size())) : failed;
  return outcome;
}

Outcome read_process_engines(const Driver &driver, DeviceData &device, Monotonic now, Frame &frame) {
  auto &state = device.processes;
  const auto wall_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(wall_now().time_since_epoch()).count());
  // 0 would give a mean over the driver's whole buffer, so ask for the last second. A newest row in the future, broken
  // or because the clock was set back, would hide all others.
  if (state.last_seen_us == 0 || state.last_seen_us > wall_us + kSecond) {
    state.last_seen_us = wall_us - kSecond;
    state.engines.clear();
  }
  const auto &api = *driver.api;
  std::size_t count = 0;
  auto code = call_engines_info(api, device.handle, state, count);
  state.has_jpeg = !try_older(code);
  if (try_older(code)) {
    if (const auto older = call_engines_samples(api, device.handle, state, count);
        older != Return::function_not_found) {
      code = older;
    }
  }
  if (code == Return::success) {
    const auto rows = std::span(state.engine_rows).first(count);
    auto newest = state.last_seen_us;
    for (const auto &row : rows) {
      if (!believable(row, wall_us)) continue;
      keep_engines(state, row, now);
      newest = std::max(newest, row.time_us);
    }
    state.last_seen_us = newest;
  }
  // "not found" means that there is nothing newer.
  const bool answered = code == Return::success || code == Return::not_found;
  std::erase_if(state.engines, [&](const auto &entry) { return !answered || now - entry.second.seen > 1s; });
  state.engines_reason = answered ? Reading(0.0) : reason_of(code);
  for (auto &use : frame.processes) fill_engines(device, use.pid, use.row);
  return answered ? Outcome::ok : outcome_of(code);
}

}  // namespace gpulse::nvml

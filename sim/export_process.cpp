// SPDX-License-Identifier: Apache-2.0
// Processes in all their row sizes, their utilization, accounting and codec sessions.
#include <array>
#include <iterator>
#include <span>
#include <vector>

#include "export.hpp"

using namespace gpulse::sim;
using gpulse::nvml::AccountingStats;
using gpulse::nvml::EncoderSession;
using gpulse::nvml::FbcSession;
using gpulse::nvml::FbcStats;
using gpulse::nvml::kValueUnknown;
using gpulse::nvml::ProcessDetail;
using gpulse::nvml::ProcessDetailList;
using gpulse::nvml::ProcessesUtilizationInfo;
using gpulse::nvml::ProcessInfoV1;
using gpulse::nvml::ProcessInfoV2;
using gpulse::nvml::ProcessInfoV3Wide;
using gpulse::nvml::ProcessUtilizationInfo;
using gpulse::nvml::ProcessUtilizationSample;

namespace {

constexpr double kUtilizationPeriod = 0.2;

bool visible(const Call &call, const Process &process, double time) {
  if (!process.span.holds(time) || process.present.at(time) < 1) {
    return false;
  }
  const MigInstance *mig = call.mig();
  return mig == nullptr || process.gpu_instance == mig->gpu_instance;
}

std::vector<const Process *> select(const Call &call, bool Process::*type) {
  std::vector<const Process *> found;
  const double time = call.device().processes.empty() ? 0 : call.now();
  for (const Process &process : call.device().processes) {
    if (process.*type && visible(call, process, time)) {
      found.push_back(&process);
    }
  }
  return found;
}

std::uint64_t memory_of(const Process &process) {
  if (!process.memory_mib.supported()) {
    return kValueUnknown;
  }
  return static_cast<std::uint64_t>(std::llround(process.memory_mib.at(now_s()) * kMib));
}

void fill(ProcessInfoV1 &row, const Process &process) {
  row.pid = process.pid;
  row.used_gpu_memory = memory_of(process);
}

template <class Row>
void fill(Row &row, const Process &process) {
  row.pid = process.pid;
  row.used_gpu_memory = memory_of(process);
  row.gpu_instance = process.gpu_instance;
  row.compute_instance = process.compute_instance;
  if constexpr (requires { row.cc_protected_memory; }) {
    row.cc_protected_memory = static_cast<std::uint64_t>(process.protected_mib * kMib);
  }
}

// Writes rows of the caller's size; a buffer too small gets the number needed and 7.
template <class Row>
Return give_rows(const std::vector<const Process *> &processes, std::uint32_t *count, void *out) {
  GPULSE_SIM_NEED(count != nullptr)
  const std::uint32_t room = *count;
  *count = static_cast<std::uint32_t>(processes.size());
  if (processes.empty()) return Return::success;
  if (processes.size() > room || out == nullptr) return Return::insufficient_size;
  Row *row = static_cast<Row *>(out);
  for (const Process *process : processes) {
    fill(*row++, *process);
  }
  return Return::success;
}

Return give_v3(const Call &call, bool Process::*type, std::uint32_t *count, void *out) {
  const auto processes = select(call, type);
  return call.scenario().driver.process_v3_row_bytes == 32 ? give_rows<ProcessInfoV3Wide>(processes, count, out)
                                                           : give_rows<ProcessInfoV2>(processes, count, out);
}

std::uint32_t share(const Number &number, double time) {
  return number.supported() ? static_cast<std::uint32_t>(std::llround(number.at(time))) : 0;
}

// The newest sample of each process that did something; the driver has no row for an idle one.
std::vector<ProcessUtilizationInfo> newest_use(const Call &call, std::uint64_t last_seen_us) {
  const double time = std::floor(call.now() / kUtilizationPeriod) * kUtilizationPeriod;
  const std::uint64_t stamp = wall_us(time);
  std::vector<ProcessUtilizationInfo> rows;
  if (stamp <= last_seen_us) {
    return rows;
  }
  for (const Process &process : call.device().processes) {
    const ProcessUtilizationInfo row{.time_us = stamp,
                                     .pid = process.pid,
                                     .sm = share(process.sm, time),
                                     .memory = share(process.memory_util, time),
                                     .encoder = share(process.encoder, time),
                                     .decoder = share(process.decoder, time),
                                     .jpeg = share(process.jpeg, time),
                                     .ofa = share(process.ofa, time)};
    if (visible(call, process, time) && (row.sm | row.memory | row.encoder | row.decoder | row.jpeg | row.ofa) != 0) {
      rows.push_back(row);
    }
  }
  return rows;
}

// On a MIG-enabled GPU per-process utilization does not exist.
bool split(const Call &call) { return !call.device().mig.empty(); }

bool has_process_use(const Call &call) { return !split(call) && call.target()[Key::gpu_util].supported(); }

}  // namespace

#define GPULSE_SIM_PROCESSES(name, type)                                               \
  GPULSE_SIM_EXPORT Return name(Handle device, std::uint32_t *count, void *out) {      \
    GPULSE_SIM_BEGIN(name, device)                                                     \
    return give_rows<ProcessInfoV1>(select(call, &Process::type), count, out);         \
  }                                                                                    \
  GPULSE_SIM_EXPORT Return name##_v2(Handle device, std::uint32_t *count, void *out) { \
    GPULSE_SIM_BEGIN(name##_v2, device)                                                \
    return give_rows<ProcessInfoV2>(select(call, &Process::type), count, out);         \
  }                                                                                    \
  GPULSE_SIM_EXPORT Return name##_v3(Handle device, std::uint32_t *count, void *out) { \
    GPULSE_SIM_BEGIN(name##_v3, device)                                                \
    return give_v3(call, &Process::type, count, out);                                  \
  }

GPULSE_SIM_PROCESSES(nvmlDeviceGetComputeRunningProcesses, compute)
GPULSE_SIM_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, graphics)
GPULSE_SIM_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, mps)

GPULSE_SIM_EXPORT Return nvmlDeviceGetRunningProcessDetailList(Handle device, ProcessDetailList *list) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetRunningProcessDetailList, device)
  GPULSE_SIM_NEED(list != nullptr)
  if (!version_is(*list, 1)) {
    return Return::argument_version_mismatch;
  }
  constexpr std::array kModes{&Process::compute, &Process::graphics, &Process::mps};
  GPULSE_SIM_NEED(list->mode < kModes.size())
  if (call.device()[Key::architecture].constant < 9) {
    return Return::not_supported;  // Hopper and newer only
  }
  return give_rows<ProcessDetail>(select(call, kModes[list->mode]), &list->count, list->processes);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetProcessUtilization(Handle device, ProcessUtilizationSample *out,
                                                         std::uint32_t *count, std::uint64_t last_seen_us) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetProcessUtilization, device)
  GPULSE_SIM_NEED(count != nullptr)
  if (!has_process_use(call)) {
    return Return::not_supported;
  }
  const auto rows = newest_use(call, last_seen_us);
  if (rows.empty()) {
    return Return::not_found;
  }
  const std::uint32_t room = *count;
  *count = static_cast<std::uint32_t>(rows.size());
  if (out == nullptr || room < rows.size()) {
    return Return::insufficient_size;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ProcessUtilizationInfo &row = rows[i];
    out[i] = {row.pid, row.time_us, row.sm, row.memory, row.encoder, row.decoder};
  }
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetProcessesUtilizationInfo(Handle device, ProcessesUtilizationInfo *list) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetProcessesUtilizationInfo, device)
  GPULSE_SIM_NEED(list != nullptr)
  if (!version_is(*list, 1)) {
    return Return::argument_version_mismatch;
  }
  if (!has_process_use(call)) {
    return Return::not_supported;
  }
  const auto rows = newest_use(call, list->last_seen_us);
  if (rows.empty()) {
    return Return::not_found;
  }
  const std::uint32_t room = list->count;
  list->count = static_cast<std::uint32_t>(rows.size());
  if (list->processes == nullptr || room < rows.size()) {
    return Return::insufficient_size;
  }
  std::ranges::copy(rows, list->processes);
  return Return::success;
}

GPULSE_SIM_NUMBER(nvmlDeviceGetAccountingBufferSize, std::uint32_t, accounting_buffer, 1)

GPULSE_SIM_EXPORT Return nvmlDeviceGetAccountingMode(Handle device, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetAccountingMode, device)
  return call.give_setting(call.device().settings->accounting, Key::accounting_mode, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetAccountingPids(Handle device, std::uint32_t *count, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetAccountingPids, device)
  GPULSE_SIM_NEED(count != nullptr)
  if (!call.target()[Key::accounting_mode].supported()) {
    return call.target()[Key::accounting_mode].code;
  }
  std::vector<std::uint32_t> pids;
  const bool cleared = call.device().settings->accounted_cleared.load(std::memory_order_relaxed) > 0;
  if (call.at(Key::accounting_mode) > 0 && !cleared) {
    std::ranges::transform(call.device().accounted, std::back_inserter(pids), &Accounted::pid);
    std::ranges::transform(select(call, &Process::compute), std::back_inserter(pids), &Process::pid);
  }
  const std::uint32_t room = *count;
  *count = static_cast<std::uint32_t>(pids.size());
  if (pids.size() > room || (out == nullptr && !pids.empty())) {
    return Return::insufficient_size;
  }
  std::ranges::copy(pids, out);
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetAccountingStats(Handle device, std::uint32_t pid, AccountingStats *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetAccountingStats, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Number &mode = call.target()[Key::accounting_mode];
  if (!mode.supported() || call.at(mode) < 1) {
    return Return::not_supported;
  }
  *out = {};
  for (const Accounted &known : call.device().accounted) {
    if (known.pid == pid) {
      out->gpu_utilization = known.gpu;
      out->memory_utilization = known.memory;
      out->max_memory = static_cast<std::uint64_t>(known.memory_mib * kMib);
      out->running = known.running ? 1 : 0;
      out->time_ms = known.running ? 0 : static_cast<std::uint64_t>(known.running_s * 1000);
      return Return::success;
    }
  }
  for (const Process &process : call.device().processes) {
    if (process.pid == pid) {
      const double time = call.now();
      out->gpu_utilization = share(process.sm, time);
      out->memory_utilization = share(process.memory_util, time);
      out->max_memory = memory_of(process);
      out->start_time_us = wall_us(process.span.from_s);
      out->running = process.span.holds(time) ? 1 : 0;
      // The driver counts the time only when the process has ended.
      out->time_ms =
          out->running != 0 ? 0 : static_cast<std::uint64_t>((process.span.until_s - process.span.from_s) * 1000);
      return Return::success;
    }
  }
  return Return::not_found;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetEncoderStats(Handle device, std::uint32_t *sessions, std::uint32_t *fps,
                                                   std::uint32_t *latency_us) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetEncoderStats, device)
  GPULSE_SIM_NEED(sessions != nullptr && fps != nullptr && latency_us != nullptr)
  const Return code = call.give(Key::encoder_sessions, sessions);
  if (code == Return::success) {
    *fps = call.get<std::uint32_t>(Key::encoder_fps);
    *latency_us = call.get<std::uint32_t>(Key::encoder_latency_us);
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetEncoderSessions(Handle device, std::uint32_t *count, EncoderSession *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetEncoderSessions, device)
  GPULSE_SIM_NEED(count != nullptr)
  const std::uint32_t room = *count;
  const Return code = call.give(Key::encoder_sessions, count);
  if (code != Return::success || *count == 0 || out == nullptr) {
    return code;  // without a buffer the call asks for the size
  }
  if (room < *count) {
    return Return::insufficient_size;
  }
  const auto processes = select(call, &Process::graphics);
  for (std::uint32_t i = 0; i < *count; ++i) {
    out[i] = {.id = i + 1,
              .pid = processes.empty() ? 0 : processes[i % processes.size()]->pid,
              .vgpu = 0,
              .codec = 0,
              .width = 1920,
              .height = 1080,
              .fps = call.get<std::uint32_t>(Key::encoder_fps),
              .latency_us = call.get<std::uint32_t>(Key::encoder_latency_us)};
  }
  return Return::success;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetEncoderCapacity(Handle device, std::uint32_t codec, std::uint32_t *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetEncoderCapacity, device)
  GPULSE_SIM_NEED(codec < 3)
  return call.give(Key::encoder_capacity, out);
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetFBCStats(Handle device, FbcStats *out) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetFBCStats, device)
  GPULSE_SIM_NEED(out != nullptr)
  const Return code = call.give(Key::fbc_sessions, &out->sessions);
  if (code == Return::success) {
    out->fps = call.get<std::uint32_t>(Key::fbc_fps);
    out->latency_us = call.get<std::uint32_t>(Key::fbc_latency_us);
  }
  return code;
}

GPULSE_SIM_EXPORT Return nvmlDeviceGetFBCSessions(Handle device, std::uint32_t *count, FbcSession *) {
  GPULSE_SIM_BEGIN(nvmlDeviceGetFBCSessions, device)
  GPULSE_SIM_NEED(count != nullptr)
  *count = 0;
  return call.target()[Key::fbc_sessions].code;
}

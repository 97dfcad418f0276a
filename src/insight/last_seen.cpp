// SPDX-License-Identifier: Apache-2.0
#include "insight/last_seen.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "insight/out_of_memory.hpp"
#include "metric/format.hpp"

namespace gpulse::insight {

namespace {

constexpr double kNearlyFull = 0.97;  // of the memory
constexpr double kMost = 0.5;         // of the memory, held by others
constexpr double kFirstStep = 20;     // seconds that it held more than a quarter of its last memory
constexpr double kGrowth = 0.1;       // of its last memory, in the second half of the time it was seen

bool is_there(const Snapshot &sample, const Process &process) {
  return std::ranges::any_of(sample.processes, [&](const Process &other) {
    return other.pid == process.pid && other.device == process.device && !other.gone;
  });
}

double memory_of(const Snapshot &sample, const Process &process) {
  for (const auto &other : sample.processes) {
    if (other.pid == process.pid && other.device == process.device) {
      return other.row[process_metric("gpu_memory_bytes")].value_or(0);
    }
  }
  return 0;
}

bool has_same_processes(const Snapshot &a, const Snapshot &b) {
  return std::ranges::equal(a.processes, b.processes, [](const Process &one, const Process &other) {
    return one.pid == other.pid && one.device == other.device && one.gone == other.gone;
  });
}

OutOfMemoryCause cause_of(const std::deque<SnapshotPtr> &samples, const Process &process, double own, double others,
                          double total) {
  if (others >= kMost * total) return OutOfMemoryCause::other_process;
  const auto large =
      std::ranges::find_if(samples, [&](const SnapshotPtr &sample) { return memory_of(*sample, process) >= own / 4; });
  if (large != samples.begin() && Seconds(samples.back()->time - (*large)->time).count() <= kFirstStep) {
    return OutOfMemoryCause::first_step;
  }
  const double before = memory_of(*samples[samples.size() / 2], process);
  return own - before >= kGrowth * own ? OutOfMemoryCause::growth : OutOfMemoryCause::unknown;
}

Finding finding_of(const Process &process, const Device &device, double own, double others, OutOfMemoryCause cause) {
  const double total = device.row[device_metric("memory_total_bytes")].value();
  const auto text = [&](MetricId metric) {
    return process.texts != nullptr ? (*process.texts)[metric].value_or("") : std::string();
  };
  auto name = text(process_metric("name"));
  if (name.empty()) name = fmt::format("pid {}", process.pid);
  constexpr double kGuess = 0.4;
  return {.id = FindingId::out_of_memory,
          .weight = Weight::note,
          .confidence = kGuess,
          .estimated = true,
          .devices = {device.id},
          .pids = {process.pid},
          .text = fmt::format(
              "{} ended while {} of {} of GPU memory were in use, {} of that its own: if it failed, it most "
              "likely ran out of memory",
              name, format_bytes(own + others), format_bytes(total), format_bytes(own)),
          .evidence = {{"memory_used_bytes", own + others, Unit::bytes},
                       {"memory_total_bytes", total, Unit::bytes},
                       {"gpu_memory_bytes", own, Unit::bytes}},
          .advice = advice(FindingId::out_of_memory, {.framework = text(process_metric("framework")), .cause = cause})};
}

}  // namespace

std::vector<Finding> left_full_devices(const std::deque<SnapshotPtr> &samples) {
  std::vector<Finding> all;
  if (samples.size() < 2) return all;
  const auto &before = *samples[samples.size() - 2], &now = *samples.back();
  if (has_same_processes(before, now)) return all;
  for (const auto &process : before.processes) {
    const auto own = process.row[process_metric("gpu_memory_bytes")];
    if (process.gone || !own || is_there(now, process)) continue;
    const auto device = std::ranges::find(before.devices, process.device, &Device::id);
    const auto after = std::ranges::find(now.devices, process.device, &Device::id);
    // A device that is lost takes its processes with it.
    if (device == before.devices.end() || after == now.devices.end() || after->state != DeviceState::ok) continue;
    const auto used = device->row[device_metric("memory_used_bytes")];
    const auto total = device->row[device_metric("memory_total_bytes")];
    if (!used || !total || total.value() <= 0 || used.value() < kNearlyFull * total.value()) continue;
    const auto framework =
        process.texts != nullptr ? (*process.texts)[process_metric("framework")].value_or("") : std::string();
    if (takes_all_memory(framework)) continue;
    const double others = std::max(0.0, used.value() - own.value());
    auto finding = finding_of(process, *device, own.value(), others,
                              cause_of(samples, process, own.value(), others, total.value()));
    finding.since = before.time;
    finding.until = now.time;
    all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace gpulse::insight

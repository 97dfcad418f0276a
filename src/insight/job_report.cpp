// SPDX-License-Identifier: Apache-2.0
#include "insight/job_report.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace gpulse::insight {

namespace {

constexpr auto kUtilization = device_metric("gpu_utilization_percent");
constexpr auto kActivity = device_metric("sm_active_percent");
constexpr auto kMemoryUsed = device_metric("memory_used_bytes");
constexpr auto kMemoryTotal = device_metric("memory_total_bytes");
constexpr auto kPower = device_metric("power_draw_watts");
constexpr auto kEnergy = device_metric("energy_joules");
constexpr auto kProcessMemory = process_metric("gpu_memory_bytes");
constexpr auto kProcessUtilization = process_metric("gpu_utilization_percent");

// Less than any job takes that computes something: the driver alone needs more for it.
constexpr double kContextBytes = 96.0 * (1U << 20U);
constexpr double kBusyPercent = 10, kActivePercent = 5;
constexpr double kEnergyGrain = 1;  // seconds: no source reads the counter more often
constexpr std::size_t kMostNeighbours = 64;

bool is_there(const Process &process, const Device &device) { return process.device == device.id && !process.gone; }

// What the job's processes add up to; one that is not told makes the sum so.
struct Share {
  bool present = false, alone = true;
  Reading memory{}, utilization{};
};

void add(Reading &sum, const Reading &more) {
  if (sum) sum = more ? Reading(sum.value() + more.value()) : more;
}

Share share_of(const Snapshot &sample, const Device &device, const IsOurs &is_ours) {
  Share share;
  share.memory = share.utilization = 0;
  for (const auto &process : sample.processes) {
    if (!is_there(process, device)) continue;
    if (!is_ours(process)) {
      share.alone = false;
      continue;
    }
    share.present = true;
    add(share.memory, process.row[kProcessMemory]);
    add(share.utilization, process.row[kProcessUtilization]);
  }
  return share;
}

// Memory in use that no process accounts for: in a container the driver names none of ours. None: it cannot be told.
Reading unexplained_memory(const Snapshot &sample, const Device &device) {
  auto left = device.row[kMemoryUsed];
  for (const auto &process : sample.processes) {
    if (!is_there(process, device) || process.foreign) continue;
    const auto &memory = process.row[kProcessMemory];
    if (!memory) return memory;
    if (left) left = left.value() - memory.value();
  }
  return left;
}

std::string text_of(const Process &process, MetricId id) {
  return process.texts != nullptr ? (*process.texts)[id].value_or("") : std::string();
}

bool is_busy(const Device &device) {
  if (const auto &utilization = device.row[kUtilization]) return utilization.value() >= kBusyPercent;
  // Where nothing is told, holding it has to do.
  return device.row[kActivity].value_or(kActivePercent) >= kActivePercent;
}

Reading rate(const Reading &now, const Reading &before, double seconds) {
  if (!now) return now;
  if (!before) return before;
  return std::max(now.value() - before.value(), 0.0) / seconds;
}

}  // namespace

std::optional<JobEnergy> JobReport::energy() const {
  std::optional<JobEnergy> sum;
  for (const auto &gpu : gpus) {
    if (!gpu.energy) return std::nullopt;
    sum = sum ? *sum + *gpu.energy : *gpu.energy;
  }
  return sum;
}

JobReporter::JobReporter(WallTime begin, std::chrono::nanoseconds interval) {
  constexpr double kLeastStep = 10;
  constexpr double kSteps = 5;
  report_.begin = report_.end = begin;
  report_.interval_seconds = Seconds(interval).count();
  longest_step_ = std::max(kLeastStep, kSteps * report_.interval_seconds);
  before_ = {.cpu_seconds = 0, .read_bytes = 0, .written_bytes = 0};
  for (auto *curve : {&report_.cores, &report_.host_memory, &report_.read_rate, &report_.write_rate}) {
    curve->set_step(report_.interval_seconds);
  }
}

std::optional<JobReporter::Step> JobReporter::step_to(WallTime time) {
  const double now = Seconds(time - report_.begin).count();
  if (!(now > last_)) return std::nullopt;
  const Step step{std::max(last_, now - longest_step_), now};
  report_.unseen_seconds += step.from - last_;
  last_ = now;
  return step;
}

JobReporter::Gpu &JobReporter::gpu_of(const Device &device) {
  auto [found, fresh] = gpus_.try_emplace(device.identity->uuid);
  auto &shown = found->second.shown;
  if (fresh) {
    for (auto *curve : {&shown.activity, &shown.utilization, &shown.memory, &shown.device_memory, &shown.power}) {
      curve->set_step(report_.interval_seconds);
    }
  }
  shown.id = device.id;
  shown.identity = device.identity;
  return found->second;
}

void JobReporter::add_neighbours(const Snapshot &sample, const Device &device, const Step &step,
                                 const IsOurs &is_ours) {
  for (const auto &process : sample.processes) {
    if (!is_there(process, device) || is_ours(process)) continue;
    auto [found, fresh] = neighbours_.try_emplace({process.pid, device.id});
    auto &neighbour = found->second;
    if (fresh) {
      neighbour = {.pid = process.pid,
                   .device = device.id,
                   .user = text_of(process, process_metric("user")),
                   .name = text_of(process, process_metric("name"))};
      ++report_.neighbour_count;
    }
    neighbour.seconds += step.seconds();
    keep_greatest(neighbour.memory_bytes, process.row[kProcessMemory]);
  }
  // The one that held least is the one to forget.
  const auto held = [](const auto &entry) { return entry.second.memory_bytes.value_or(0); };
  while (neighbours_.size() > kMostNeighbours) neighbours_.erase(std::ranges::min_element(neighbours_, {}, held));
}

std::optional<double> JobReporter::assumed_memory(Gpu &gpu, const Reading &unexplained) const {
  // One sample may have the memory of a process that only the next one lists.
  constexpr int kInARow = 2;
  if (!gpu.idle_memory_bytes) gpu.idle_memory_bytes = unexplained;
  if (named_ || !unexplained || !gpu.idle_memory_bytes) return std::nullopt;
  const double rise = unexplained.value() - gpu.idle_memory_bytes.value();
  gpu.rises = rise >= kContextBytes ? gpu.rises + 1 : 0;
  return gpu.rises >= kInARow ? std::optional(rise) : std::nullopt;
}

void JobReporter::look_at(const Snapshot &sample, const Device &device, const Step &step, const IsOurs &is_ours) {
  auto &gpu = gpu_of(device);
  auto &shown = gpu.shown;
  const auto &row = device.row;
  auto share = share_of(sample, device, is_ours);
  named_ = named_ || share.present;
  const auto rise = assumed_memory(gpu, unexplained_memory(sample, device));
  if (!share.present && rise) {
    shown.assumed = share.present = true;
    share.memory = *rise;
  }
  gpu.meter.add(step.from, step.to, share.present, row[kEnergy], row[kPower],
                std::max(kEnergyGrain, report_.interval_seconds));
  shown.activity.add(step.from, step.to, row[kActivity]);
  shown.utilization.add(step.from, step.to, row[kUtilization]);
  shown.device_memory.add(step.from, step.to, row[kMemoryUsed]);
  shown.power.add(step.from, step.to, row[kPower]);
  if (!share.present) return;

  if (!gpu.used) shown.first_seconds = step.to;
  gpu.used = present_ = true;
  shown.last_seconds = step.to;
  shown.seconds += step.seconds();
  shown.shared = shown.shared || !share.alone;
  // The device's own tells of everybody on it.
  const auto used = share.alone || !share.utilization ? row[kUtilization] : share.utilization;
  gpu.utilization.add(used, step.seconds());
  gpu.activity.add(row[kActivity], step.seconds());
  gpu.power.add(row[kPower], step.seconds());
  if (const auto &active = row[kActivity]) {
    const auto bin = static_cast<std::size_t>(std::clamp(active.value(), 0.0, 100.0) / (100.0 / kActivitySteps));
    shown.activity_histogram[std::min(bin, kActivitySteps - 1)] += step.seconds();
  }
  shown.memory.add(step.from, step.to, share.memory);
  keep_greatest(shown.memory_bytes, share.memory);
  keep_greatest(shown.device_memory_bytes, row[kMemoryUsed]);
  keep_greatest(shown.total_memory_bytes, row[kMemoryTotal]);
  for (const auto &process : sample.processes) {
    if (!shown.framework.empty()) break;
    if (is_there(process, device) && is_ours(process)) shown.framework = text_of(process, process_metric("framework"));
  }
  busy_ = busy_ || is_busy(device);
  add_neighbours(sample, device, step, is_ours);
}

void JobReporter::add_host(const Snapshot &sample, const std::optional<JobUse> &use, const Step &step) {
  report_.hostname = sample.hostname;
  keep_greatest(report_.host_cores, sample.host[host_metric("cpu_count")]);
  keep_greatest(report_.host_memory_total_bytes, sample.host[host_metric("memory_total_bytes")]);
  if (!use) return;
  const double from = std::max(used_until_, step.to - longest_step_);
  used_until_ = step.to;
  const auto add_rate = [&](JobCurve &curve, const Reading &now, const Reading &before) {
    curve.add(from, step.to, rate(now, before, step.to - from));
  };
  add_rate(report_.cores, use->cpu_seconds, before_.cpu_seconds);
  add_rate(report_.read_rate, use->read_bytes, before_.read_bytes);
  add_rate(report_.write_rate, use->written_bytes, before_.written_bytes);
  report_.host_memory.add(from, step.to, use->memory_bytes);
  if (use->memory_bytes) keep_greatest(report_.memory_bytes, use->memory_bytes);
  report_.processes = std::max(report_.processes, use->processes);
  report_.use = before_ = *use;
}

void JobReporter::add(const Snapshot &sample, const IsOurs &is_ours, const std::optional<JobUse> &use) {
  const auto step = step_to(sample.time);
  if (!step) return;
  ++report_.samples;
  report_.gpus_found = report_.gpus_found || !sample.devices.empty();
  busy_ = present_ = false;
  for (const auto &device : sample.devices) {
    if (device.identity != nullptr) look_at(sample, device, *step, is_ours);
  }
  add_host(sample, use, *step);
  seen_busy_ = seen_busy_ || busy_;
  const auto kind = !seen_busy_ ? PhaseKind::start_up
                    : busy_     ? PhaseKind::busy
                    : present_  ? PhaseKind::stalled
                                : PhaseKind::off_gpu;
  phases_.add(step->from, step->to, kind);
}

SnapshotPtr JobReporter::part_of(const Snapshot &sample) const {
  const auto is_used = [&](const Device &device) {
    const auto found = device.identity != nullptr ? gpus_.find(device.identity->uuid) : gpus_.end();
    return found != gpus_.end() && found->second.used;
  };
  if (std::ranges::none_of(sample.devices, is_used)) return nullptr;
  auto part = std::make_shared<Snapshot>(sample);
  std::erase_if(part->devices, [&](const Device &device) { return !is_used(device); });
  std::erase_if(part->processes, [&](const Process &process) {
    return std::ranges::none_of(part->devices, [&](const Device &device) { return device.id == process.device; });
  });
  return part;
}

JobReport JobReporter::report(WallTime end, const JobEnd &how) const {
  auto report = report_;
  report.end = std::max(end, report.begin);
  report.how = how;
  for (const auto &[uuid, gpu] : gpus_) {
    if (!gpu.used) continue;
    auto shown = gpu.shown;
    // The sample after the end may be a little late.
    shown.seconds = std::min(shown.seconds, report.seconds());
    shown.utilization_percent = gpu.utilization.mean();
    shown.activity_percent = gpu.activity.mean();
    shown.power_watts = gpu.power.mean();
    const auto &busy = shown.utilization_percent;
    shown.busy_seconds = busy ? Reading(busy.value() / 100 * shown.seconds) : busy;
    shown.energy = gpu.meter.energy();
    shown.energy_reason = shown.power_watts ? Reading(Reason::not_supported) : shown.power_watts;
    report.gpus.push_back(std::move(shown));
  }
  std::ranges::sort(report.gpus, {}, &JobGpu::id);
  if (!report.gpus.empty()) report.phases = phases_.phases(report.seconds());
  for (const auto &[key, neighbour] : neighbours_) report.neighbours.push_back(neighbour);
  std::ranges::sort(report.neighbours, std::greater<>{},
                    [](const JobNeighbour &one) { return std::pair(one.memory_bytes.value_or(0), one.pid); });
  return report;
}

}  // namespace gpulse::insight

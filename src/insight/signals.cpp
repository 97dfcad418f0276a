// SPDX-License-Identifier: Apache-2.0
#include "insight/signals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "insight/notices.hpp"
#include "metric/format.hpp"
#include "metric/state_names.hpp"

namespace gpulse::insight {

namespace {

using SampleSpan = std::span<const SnapshotPtr>;

constexpr double kAtWork = 1;          // percent of the time: less is noise
constexpr double kYoungSeconds = 120;  // a job of this age may still be starting
constexpr double kShortestSeconds = 2, kWarmSeconds = 8;

double seconds_between(WallTime from, WallTime to) { return Seconds(to - from).count(); }

const Device *find(const Snapshot &sample, const DeviceId &id) {
  // Most machines have them in the order of their numbers.
  if (id.index < sample.devices.size() && sample.devices[id.index].id == id) return &sample.devices[id.index];
  const auto found = std::ranges::find(sample.devices, id, &Device::id);
  return found == sample.devices.end() ? nullptr : &*found;
}

template <class Read>
Series series_of(SampleSpan samples, const Read &read) {
  Series series;
  for (const auto &sample : samples) {
    if (const Reading reading = read(*sample)) {
      series.add(seconds_between(samples.front()->time, sample->time), reading.value());
    }
  }
  return series;
}

Series device_series(SampleSpan samples, const DeviceId &id, MetricId metric) {
  return series_of(samples, [&](const Snapshot &sample) {
    const auto *device = find(sample, id);
    return device != nullptr ? device->row[metric] : Reading(Reason::lost);
  });
}

Series host_series(SampleSpan samples, MetricId metric) {
  return series_of(samples, [&](const Snapshot &sample) { return sample.host[metric]; });
}

Number host_mean(SampleSpan samples, MetricId metric) { return host_series(samples, metric).mean(); }

Number host_last(SampleSpan samples, MetricId metric) { return host_series(samples, metric).last(); }

Series process_series(SampleSpan samples, const DeviceId &id, std::uint32_t pid, MetricId metric) {
  std::size_t place = 0;  // where it was in the sample before
  const auto is_it = [&](const Process &process) { return process.pid == pid && process.device == id; };
  return series_of(samples, [&](const Snapshot &sample) {
    const auto &all = sample.processes;
    if (place >= all.size() || !is_it(all[place])) {
      place = static_cast<std::size_t>(std::ranges::find_if(all, is_it) - all.begin());
    }
    return place < all.size() ? all[place].row[metric] : Reading(Reason::lost);
  });
}

// The first that the metrics give.
Number first_known(Number a, Number b) { return a ? a : b; }

Number greater(Number a, Number b) { return a && b ? std::max(*a, *b) : first_known(a, b); }

std::string text_of(const Process &process, MetricId metric) {
  return process.texts != nullptr ? (*process.texts)[metric].value_or("") : std::string();
}

bool computes(const Process &process) {
  const bool computing = (process.types & static_cast<std::uint8_t>(ProcessType::compute)) != 0;
  const bool shared = (process.types & static_cast<std::uint8_t>(ProcessType::mps)) != 0;
  return process.types == 0 || computing || shared;
}

JobSignals measure_job(SampleSpan samples, const DeviceId &id, const Process &process) {
  const auto series = [&](MetricId metric) { return process_series(samples, id, process.pid, metric); };
  const auto mean = [&](MetricId metric) { return series(metric).mean(); };
  JobSignals job{
      .pid = process.pid,
      .parent = static_cast<std::uint32_t>(process.row[process_metric("parent_pid")].value_or(0)),
      .name = text_of(process, process_metric("name")),
      .command = text_of(process, process_metric("command")),
      .parent_name = text_of(process, process_metric("parent")),
      .framework = text_of(process, process_metric("framework")),
      .compute = computes(process),
      .age_seconds = series(process_metric("running_seconds")).first(),
      .cpu_percent = first_known(mean(process_metric("tree_cpu_percent")), mean(process_metric("cpu_percent"))),
      .processes = mean(process_metric("tree_processes")),
      .busy_processes = mean(process_metric("tree_busy_processes")),
      .read_bytes_per_second = series(process_metric("tree_read_bytes_per_second")).steady_mean(),
      .write_bytes_per_second = series(process_metric("tree_write_bytes_per_second")).steady_mean(),
      .disk_wait_percent = mean(process_metric("tree_disk_wait_percent")),
      .pressure_io_percent = mean(process_metric("cgroup_pressure_io_percent")),
      .pressure_cpu_percent = mean(process_metric("cgroup_pressure_cpu_percent")),
      .host_memory_bytes = first_known(series(process_metric("tree_memory_bytes")).last(),
                                       series(process_metric("host_memory_bytes")).last()),
      .memory = series(process_metric("gpu_memory_bytes"))};
  const auto &last = samples.back()->processes;
  job.ended = std::ranges::none_of(
      last, [&](const Process &other) { return other.pid == process.pid && other.device == id && !other.gone; });
  return job;
}

// Those that were on the device; a process that another of them has started is part of that one's job.
std::vector<JobSignals> measure_jobs(SampleSpan samples, const DeviceId &id) {
  std::map<std::uint32_t, const Process *> seen;  // as it was last
  for (const auto &sample : samples) {
    for (const auto &process : sample->processes) {
      if (process.device == id) seen[process.pid] = &process;
    }
  }
  std::vector<JobSignals> jobs;
  for (const auto &[pid, process] : seen) {
    auto job = measure_job(samples, id, *process);
    if (job.processes && seen.contains(job.parent)) continue;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

HostSignals measure_host(SampleSpan samples) {
  return {.cores = host_last(samples, host_metric("cpu_count")),
          .cpu_percent = host_mean(samples, host_metric("cpu_percent")),
          .iowait_percent = host_mean(samples, host_metric("cpu_iowait_percent")),
          .pressure_io_percent = host_mean(samples, host_metric("pressure_io_percent")),
          .read_bytes_per_second = host_series(samples, host_metric("disk_read_bytes_per_second")).steady_mean(),
          .network_bytes_per_second = host_series(samples, host_metric("network_rx_bytes_per_second")).steady_mean(),
          .memory_bytes = host_last(samples, host_metric("memory_used_bytes")),
          .memory_total_bytes = host_last(samples, host_metric("memory_total_bytes")),
          .memory_available_bytes = host_last(samples, host_metric("memory_available_bytes")),
          .swap_used_bytes = host_last(samples, host_metric("swap_used_bytes")),
          .swap_total_bytes = host_last(samples, host_metric("swap_total_bytes"))};
}

// What the lanes carry in one direction, after the encoding.
Number link_speed(Number generation, Number width) {
  constexpr double kGiga = 1e9;
  constexpr std::array kPerLane{0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  if (!generation || !width || *generation < 1) return std::nullopt;
  const auto place = std::min(static_cast<std::size_t>(*generation), kPerLane.size()) - 1;
  return kPerLane[place] * *width * kGiga;
}

// How much of the time any of these reasons held the clocks back.
Number throttled_share(const Series &reasons, std::uint64_t bits) {
  if (reasons.empty()) return std::nullopt;
  const auto count =
      std::ranges::count_if(reasons.values(), [&](double value) { return (set_bits(value) & bits) != 0; });
  return static_cast<double>(count) / static_cast<double>(reasons.size());
}

Number share_of_percent(const Series &series) {
  const auto mean = series.mean();
  if (!mean) return std::nullopt;
  return *mean / 100;
}

void measure_throttling(SampleSpan samples, const DeviceId &id, DeviceSignals &to) {
  const auto series = [&](MetricId metric) { return device_series(samples, id, metric); };
  const auto reasons = series(device_metric("throttle_reasons"));
  using state_names::throttle_bit;
  to.capped_share = greater(throttled_share(reasons, throttle_bit("power cap") | throttle_bit("board limit")),
                            share_of_percent(series(device_metric("throttled_power_percent"))));
  to.thermal_share = greater(throttled_share(reasons, throttle_bit("sw thermal") | throttle_bit("hw thermal")),
                             share_of_percent(series(device_metric("throttled_thermal_percent"))));
  const auto hardware = throttle_bit("hw slowdown") | throttle_bit("power brake");
  const auto heat = throttle_bit("hw thermal");
  if (!reasons.empty()) {
    // The driver calls heat a slowdown by the hardware, too.
    const auto count = std::ranges::count_if(reasons.values(), [&](double value) {
      const auto bits = set_bits(value);
      return (bits & hardware) != 0 && ((bits & heat) == 0 || (bits & throttle_bit("power brake")) != 0);
    });
    to.hardware_share = static_cast<double>(count) / static_cast<double>(reasons.size());
  }
}

void measure_power(SampleSpan samples, const DeviceId &id, DeviceSignals &to) {
  const auto series = [&](MetricId metric) { return device_series(samples, id, metric); };
  auto power = series(device_metric("power_instant_watts"));
  if (power.empty()) power = series(device_metric("power_draw_watts"));
  to.power_watts = power.mean();
  const auto limit = series(device_metric("power_limit_watts")).last();
  if (limit && *limit > 0 && !power.empty()) {
    constexpr double kLow = 0.1, kHigh = 0.9;
    to.power_share = *power.mean() / *limit;
    to.power_spread_share = (*power.quantile(kHigh) - *power.quantile(kLow)) / *limit;
  }
  const auto clock = series(device_metric("clock_sm_mhz")).mean();
  const auto highest = series(device_metric("clock_max_sm_mhz")).last();
  if (clock && highest && *highest > 0) to.clock_share = *clock / *highest;
}

void measure_work(SampleSpan samples, const DeviceId &id, DeviceSignals &to) {
  const auto series = [&](MetricId metric) { return device_series(samples, id, metric); };
  const auto mean = [&](MetricId metric) { return series(metric).mean(); };
  to.utilization = mean(device_metric("gpu_utilization_percent"));
  to.active = mean(device_metric("graphics_active_percent"));
  to.activity = series(device_metric("sm_active_percent"));
  to.sm = to.activity.mean();
  if (to.activity.empty()) to.activity = series(device_metric("gpu_utilization_percent"));
  to.tensor = mean(device_metric("tensor_active_percent"));
  to.tensor_fp64 = mean(device_metric("tensor_fp64_active_percent"));
  to.fp64 = mean(device_metric("fp64_active_percent"));
  to.fp32 = mean(device_metric("fp32_active_percent"));
  to.fp16 = mean(device_metric("fp16_active_percent"));
  to.integer = mean(device_metric("integer_active_percent"));
  to.dram = mean(device_metric("dram_active_percent"));
  to.controller = mean(device_metric("memory_utilization_percent"));
  for (const auto engine : {device_metric("encoder_utilization_percent"), device_metric("decoder_utilization_percent"),
                            device_metric("jpeg_utilization_percent"), device_metric("ofa_utilization_percent")}) {
    to.video = greater(to.video, mean(engine));
  }
}

void measure_links(SampleSpan samples, const DeviceId &id, DeviceSignals &to) {
  const auto series = [&](MetricId metric) { return device_series(samples, id, metric); };
  to.receive_bytes_per_second = series(device_metric("pcie_rx_bytes_per_second")).mean();
  to.send_bytes_per_second = series(device_metric("pcie_tx_bytes_per_second")).mean();
  // A link that rests has fewer lanes and a lower generation: what it had at its best counts.
  to.link_generation = series(device_metric("pcie_link_generation")).quantile(1);
  to.link_width = series(device_metric("pcie_link_width")).quantile(1);
  to.link_generation_max = series(device_metric("pcie_link_generation_max")).last();
  to.link_width_max = series(device_metric("pcie_link_width_max")).last();
  to.link_bytes_per_second = link_speed(to.link_generation, to.link_width);
}

// Readings beyond their thresholds that are about health, as their rows say.
void measure_health(SampleSpan samples, const Device &device, DeviceSignals &to) {
  for (const auto &notice : notices(device)) {
    const auto &metric = describe(notice.metric);
    if (notice.kind != NoticeKind::beyond_threshold || metric.group != Group::health) continue;
    auto &list = notice.severity == Severity::critical ? to.troubles : to.worries;
    list.push_back({.name = std::string(metric.key), .value = notice.value, .unit = metric.unit});
  }
  std::set<std::pair<WallTime, std::int64_t>> seen;
  for (const auto &sample : samples) {
    for (const auto &event : sample->events) {
      const bool within = event.time >= samples.front()->time && event.time <= samples.back()->time;
      if (event.device != to.uuid || !within || !seen.emplace(event.time, event.code).second) continue;
      to.events.push_back(event);
    }
  }
}

std::set<std::uint32_t> computing_pids(const Snapshot &sample, const DeviceId &id) {
  std::set<std::uint32_t> pids;
  for (const auto &process : sample.processes) {
    if (process.device == id && computes(process)) pids.insert(process.pid);
  }
  return pids;
}

// The last samples in which the same processes compute on the device for a while, as two jobs in one mean say nothing
// of either: a job of several processes does not come or go in one moment.
SampleSpan of_one_job(SampleSpan samples, const DeviceId &id) {
  const auto length = [](SampleSpan stretch) { return seconds_between(stretch.front()->time, stretch.back()->time); };
  SampleSpan longest;
  for (auto end = samples.size(); end > 0;) {
    const auto pids = computing_pids(*samples[end - 1], id);
    auto begin = end - 1;
    while (begin > 0 && computing_pids(*samples[begin - 1], id) == pids) --begin;
    const auto stretch = samples.subspan(begin, end - begin);
    if (length(stretch) >= kShortestSeconds) return stretch;
    if (longest.empty() || length(stretch) > length(longest)) longest = stretch;
    end = begin;
  }
  return longest;
}

// How much of the time kernels or copies ran, in percent.
double work_of(const Snapshot &sample, const DeviceId &id) {
  const auto *device = find(sample, id);
  if (device == nullptr) return 0;
  return std::max(device->row[device_metric("graphics_active_percent")].value_or(0),
                  device->row[device_metric("gpu_utilization_percent")].value_or(0));
}

// When the stretch began. Of a process that has ended while the driver still lists it, an earlier sample tells.
Number age_before(SampleSpan samples, const Process &process) {
  const auto ages = process_series(samples, process.device, process.pid, process_metric("running_seconds"));
  if (ages.empty()) return std::nullopt;
  return std::max(0.0, *ages.last() - ages.times().back());
}

// When the stretch began the youngest job was this old; none: nobody is there, or it cannot be told.
Number age_at_begin(SampleSpan samples, const DeviceId &id) {
  Number youngest;
  for (const auto &process : samples.back()->processes) {
    if (process.device != id) continue;
    const bool fresh = std::ranges::none_of(samples.front()->processes,
                                            [&](const Process &other) { return other.pid == process.pid; });
    const auto age = fresh ? Number(0) : age_before(samples, process);
    if (age) youngest = std::min(youngest.value_or(*age), *age);
  }
  return youngest;
}

bool computes_on_host(const Snapshot &sample, const DeviceId &id) {
  constexpr double kBusy = 20;  // percent of a core
  return std::ranges::any_of(sample.processes, [&](const Process &process) {
    return process.device == id && process.row[process_metric("cpu_percent")].value_or(0) >= kBusy;
  });
}

// A job that has only begun works at its pace when it does half of what it does at the end.
double working_pace(SampleSpan samples, const DeviceId &id) {
  constexpr std::size_t kPart = 3;
  std::vector<double> last;
  for (const auto &sample : samples.last(samples.size() / kPart)) last.push_back(work_of(*sample, id));
  if (last.empty()) return kAtWork;
  std::ranges::sort(last);
  return std::max(kAtWork, last[last.size() / 2] / 2);
}

// The share of samples in which it works at the pace.
double working_share(SampleSpan samples, const DeviceId &id, double pace) {
  const auto working = std::ranges::count_if(samples, [&](const auto &one) { return work_of(*one, id) >= pace; });
  return samples.empty() ? 0 : static_cast<double>(working) / static_cast<double>(samples.size());
}

// The first sample from which on it works for a while about as often as at the end: a framework's first touch of the
// device, and what it tries out while it compiles, are over sooner.
SampleSpan::iterator first_lasting_work(SampleSpan samples, const DeviceId &id, double pace) {
  constexpr double kWhileSeconds = 4, kWhileShare = 0.2;
  constexpr std::size_t kPart = 3;
  const double length = seconds_between(samples.front()->time, samples.back()->time);
  const double while_seconds = std::min(kWhileSeconds, kWhileShare * length);
  const double enough = working_share(samples.last(samples.size() / kPart), id, pace) / 2;
  for (auto first = samples.begin(); first != samples.end(); ++first) {
    if (work_of(**first, id) < pace) continue;
    const auto end = std::find_if(first, samples.end(), [&](const auto &one) {
      return seconds_between((*first)->time, one->time) > while_seconds;
    });
    if (working_share({first, end}, id, pace) >= enough) return first;
  }
  return samples.end();
}

// The samples after a job has begun to use the device, where the stretch begins before that.
SampleSpan after_start(SampleSpan samples, const DeviceId &id, bool &starting) {
  constexpr double kShortRest = 0.3;  // of the stretch: a pause before work, whoever's it is
  const auto age = age_at_begin(samples, id);
  const bool young = age && *age < kYoungSeconds;
  const double pace = young ? working_pace(samples, id) : kAtWork;
  const auto first =
      young ? first_lasting_work(samples, id, pace)
            : std::ranges::find_if(samples, [&](const auto &sample) { return work_of(*sample, id) >= pace; });
  if (first == samples.begin()) return samples;
  if (first == samples.end()) {
    // It has done nothing yet: while it computes, it may be about to begin.
    starting = young && computes_on_host(*samples.back(), id);
    return samples;
  }
  const auto rest = samples.subspan(static_cast<std::size_t>(first - samples.begin()));
  const double before = seconds_between(samples.front()->time, rest.front()->time);
  const double after = seconds_between(rest.front()->time, rest.back()->time);
  starting = young && after < kWarmSeconds;
  const bool pause = before <= kShortRest * (before + after);
  return after >= kShortestSeconds && (young || pause) ? rest : samples;
}

// The samples since all work has ended, where that is some time ago and the job waits: what was before says nothing of
// why it stopped.
SampleSpan since_last_work(SampleSpan samples, const DeviceId &id) {
  constexpr double kLongSeconds = 10;
  auto begin = samples.size();
  while (begin > 0 && work_of(*samples[begin - 1], id) < kAtWork) --begin;
  if (begin == 0 || begin == samples.size()) return samples;
  const auto rest = samples.subspan(begin);
  const bool is_long = seconds_between(rest.front()->time, rest.back()->time) >= kLongSeconds;
  // Not by the last sample alone: a process that ends computes once more.
  const auto computing = std::ranges::count_if(rest, [&](const auto &one) { return computes_on_host(*one, id); });
  return is_long && static_cast<std::size_t>(computing) * 2 < rest.size() ? rest : samples;
}

DeviceSignals measure_device(SampleSpan all, const DeviceId &id) {
  DeviceSignals signals;
  signals.id = id;
  const auto samples = since_last_work(after_start(of_one_job(all, id), id, signals.starting), id);
  const Device *last = nullptr;
  for (const auto &sample : samples) {
    if (const auto *device = find(*sample, id)) last = device;
  }
  if (last == nullptr) return signals;
  if (last->identity != nullptr) signals.uuid = last->identity->uuid.str();
  signals.begin = samples.front()->time;
  signals.samples = samples.size();
  signals.seconds = seconds_between(samples.front()->time, samples.back()->time);
  signals.lost = last->state == DeviceState::lost || last->state == DeviceState::not_responding;
  const auto &count = last->row[device_metric("process_count")];
  signals.jobs = measure_jobs(samples, id);
  signals.knows_processes = !signals.jobs.empty() || (count && count.value() == 0) || count.is(Reason::asleep);
  measure_work(samples, id, signals);
  measure_power(samples, id, signals);
  measure_throttling(samples, id, signals);
  measure_links(samples, id, signals);
  measure_health(all, *last, signals);
  signals.memory = device_series(samples, id, device_metric("memory_used_bytes"));
  signals.memory_total_bytes = device_series(samples, id, device_metric("memory_total_bytes")).last();
  signals.host = measure_host(samples);
  return signals;
}

}  // namespace

Number DeviceSignals::fill() const {
  const auto busy = busy_percent();
  if (!sm || !active || !busy || *busy <= 0) return std::nullopt;
  return std::min(1.0, *sm / *busy);
}

Number DeviceSignals::fed_bytes_per_kernel_second() const {
  if (!receive_bytes_per_second || !active || *active <= 0) return std::nullopt;
  return *receive_bytes_per_second / (*active / 100);
}

Number DeviceSignals::job_sum(Number JobSignals::*of) const {
  Number sum;
  for (const auto &job : jobs) {
    if (job.*of) sum = sum.value_or(0) + *(job.*of);
  }
  return sum;
}

Number DeviceSignals::cpu_while_waiting() const {
  const auto cpu = job_sum(&JobSignals::cpu_percent);
  const auto busy = busy_percent();
  if (!cpu || !busy || *busy >= 100) return std::nullopt;
  // While kernels run, a core waits for them at full speed.
  return std::max(0.0, *cpu - *busy) / (100 - *busy);
}

bool DeviceSignals::has_compute_job() const { return std::ranges::any_of(jobs, &JobSignals::compute); }

std::vector<std::uint32_t> DeviceSignals::pids() const {
  std::vector<std::uint32_t> pids;
  for (const auto &job : jobs) pids.push_back(job.pid);
  return pids;
}

std::string DeviceSignals::framework() const {
  for (const auto &job : jobs) {
    if (!job.framework.empty()) return job.framework;
  }
  return {};
}

std::vector<DeviceSignals> measure(std::span<const SnapshotPtr> samples) {
  std::set<DeviceId> ids;
  for (const auto &sample : samples) {
    for (const auto &device : sample->devices) ids.insert(device.id);
  }
  std::vector<DeviceSignals> all;
  for (const auto &id : ids) {
    const auto is_part = [&](const DeviceId &other) { return other.instance && other.index == id.index; };
    if (!id.instance && std::ranges::any_of(ids, is_part)) continue;
    auto signals = measure_device(samples, id);
    if (signals.samples > 0) all.push_back(std::move(signals));
  }
  return all;
}

}  // namespace gpulse::insight

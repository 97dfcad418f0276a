// SPDX-License-Identifier: Apache-2.0
// The GPU has real work now and then, and waits for it most of the time. Who it waits for, the host knows.
#include <fmt/format.h>

#include <algorithm>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

namespace {

// The share of time in which nothing runs. None: that is nothing to speak of, or cannot be told.
Number waiting_share(const DeviceSignals &signals, const Thresholds &limits) {
  const auto busy = signals.busy_percent();
  if (!busy || !signals.has_compute_job() || *busy < limits.at_rest_percent / 2) return std::nullopt;
  const double lost = 1 - std::min(*busy, 100.0) / 100;
  if (lost < limits.waiting_lost_share || has_stopped(signals, stalls_of(signals, limits), limits)) return std::nullopt;
  return lost;
}

// Where the GPU does not tell what its processors do, power that rises shows that kernels do something.
bool does_something(const DeviceSignals &signals, const Thresholds &limits) {
  if (signals.tells_work()) return true;
  return signals.power_spread_share.value_or(0) >= limits.flat_power_share;
}

// Cores that others than the process on the GPU keep busy: its loaders, where nobody has counted those.
Number other_cores(const DeviceSignals &signals) {
  const auto cpu = signals.job_sum(&JobSignals::cpu_percent);
  if (signals.job_sum(&JobSignals::processes) || !cpu || !signals.host.cores || !signals.host.cpu_percent)
    return std::nullopt;
  return *signals.host.cores * *signals.host.cpu_percent / 100 - *cpu / 100;
}

bool has_full_core(const DeviceSignals &signals, const Thresholds &limits) {
  // Where each of its processes is counted, three that use a third of a core do not add up to one that is full.
  if (const auto busy = signals.job_sum(&JobSignals::busy_processes)) return *busy >= limits.busy_processes;
  return signals.cpu_while_waiting().value_or(0) >= limits.cpu_full_share;
}

// One process alone may prepare data, or launch kernels too small for the GPU: only a GPU that tells its work knows
// which.
bool is_launching_or_preparing(const DeviceSignals &signals, const Thresholds &limits) {
  if (signals.tells_work() || !has_full_core(signals, limits)) return false;
  return signals.job_sum(&JobSignals::processes).value_or(0) == static_cast<double>(signals.jobs.size());
}

// The job would compute more if it were let: by others on the machine, or by the limit of its container.
bool lacks_cores(const DeviceSignals &signals, const Thresholds &limits) {
  const bool full = signals.host.cpu_percent.value_or(0) >= limits.host_full_percent ||
                    signals.job_sum(&JobSignals::pressure_cpu_percent).value_or(0) >= limits.pressure_cpu_percent;
  return full && signals.job_sum(&JobSignals::cpu_percent).value_or(0) >= limits.job_cpu_percent;
}

bool has_full_core_elsewhere(const DeviceSignals &signals, const Thresholds &limits) {
  return !has_full_core(signals, limits) && other_cores(signals).value_or(0) >= limits.cpu_full_share;
}

struct Source {
  Number read;             // from storage, in bytes per second
  bool from_host = false;  // of the whole machine, because the job does not tell
  Number network;
  bool waits = false;  // tasks wait for a disk
};

Source source_of(const DeviceSignals &signals, const Thresholds &limits) {
  Source source{.read = signals.job_sum(&JobSignals::read_bytes_per_second),
                .network = signals.host.network_bytes_per_second};
  if (!source.read) {
    source.read = signals.host.read_bytes_per_second;
    source.from_host = source.read.has_value();
  }
  const auto from = [&](Number value) { return value.value_or(0) >= limits.disk_wait_percent; };
  source.waits = from(signals.job_sum(&JobSignals::disk_wait_percent)) ||
                 from(signals.job_sum(&JobSignals::pressure_io_percent)) || from(signals.host.pressure_io_percent);
  return source;
}

bool fetches(const Source &source, const Thresholds &limits) {
  return source.waits || source.read.value_or(0) >= limits.read_bytes_per_second ||
         source.network.value_or(0) >= limits.network_bytes_per_second;
}

Finding starved(FindingId id, const DeviceSignals &signals, const Thresholds &limits, double lost, double confidence,
                std::string text) {
  const auto weight = lost >= limits.starved_lost_share ? Weight::problem : Weight::note;
  auto finding = finding_of(id, weight, signals, confidence, std::move(text));
  finding.lost_share = lost;
  add_evidence(finding, {{"gpu_utilization_percent", signals.utilization},
                         {"graphics_active_percent", signals.active},
                         {"sm_active_percent", signals.sm},
                         {"pcie_rx_bytes_per_second", signals.receive_bytes_per_second, Unit::bytes_per_second}});
  add_host_evidence(finding, signals);
  return finding;
}

}  // namespace

Judgement input_cpu(const DeviceSignals &signals, const Thresholds &limits) {
  const auto lost = waiting_share(signals, limits);
  // Somebody's cores are no more than a hint: what is read counts more.
  const bool elsewhere = has_full_core_elsewhere(signals, limits) && !fetches(source_of(signals, limits), limits);
  const bool own = has_full_core(signals, limits), short_of = !own && lacks_cores(signals, limits);
  if (!lost || (!own && !short_of && !elsewhere) || !does_something(signals, limits)) return std::nullopt;
  if (is_launching_or_preparing(signals, limits)) return std::nullopt;
  constexpr double kFar = 0.4, kOther = 0.7;
  const auto who = short_of ? fmt::format("{}, and it has to wait for one", cpu_words(signals))
                   : elsewhere
                       ? fmt::format("other processes keep {:.1f} of {:.0f} cores busy, its loaders if it has any",
                                     *other_cores(signals), *signals.host.cores)
                       : cpu_words(signals);
  auto finding = starved(FindingId::input_cpu, signals, limits, *lost,
                         sureness(*lost, limits.waiting_lost_share, kFar) * (elsewhere ? kOther : 1),
                         fmt::format("The GPU waits {} of the time for the CPU: {}", percent_words(*lost * 100), who));
  if (elsewhere) add_evidence(finding, {{"host_other_cores", other_cores(signals), Unit::none}});
  if (finding.estimated) finding.confidence /= 2;
  auto context = context_of(signals);
  context.lost_share = lost;
  add_advice(finding, context);
  return finding;
}

Judgement input_io(const DeviceSignals &signals, const Thresholds &limits) {
  const auto lost = waiting_share(signals, limits);
  if (!lost || has_full_core(signals, limits) || lacks_cores(signals, limits)) return std::nullopt;
  const auto source = source_of(signals, limits);
  const bool reads = source.read.value_or(0) >= limits.read_bytes_per_second;
  const bool receives = source.network.value_or(0) >= limits.network_bytes_per_second;
  if (!fetches(source, limits)) return std::nullopt;
  std::string what = "its tasks wait for a disk";
  if (reads) {
    what = fmt::format("{} {} from storage", source.from_host ? "the machine reads" : "the job reads",
                       rate_words(*source.read));
  } else if (receives) {
    what = fmt::format("the machine receives {} over the network", rate_words(*source.network));
  }
  constexpr double kFar = 0.4, kOther = 0.8;
  auto finding = starved(FindingId::input_io, signals, limits, *lost,
                         sureness(*lost, limits.waiting_lost_share, kFar) * (source.from_host ? kOther : 1),
                         fmt::format("The GPU waits {} of the time for data: {}, no core is busy all of the time",
                                     percent_words(*lost * 100), what));
  add_evidence(finding, {{"disk_read_bytes_per_second", signals.host.read_bytes_per_second, Unit::bytes_per_second},
                         {"network_rx_bytes_per_second", source.network, Unit::bytes_per_second},
                         {"cpu_iowait_percent", signals.host.iowait_percent},
                         {"pressure_io_percent", signals.host.pressure_io_percent}});
  auto context = context_of(signals);
  context.lost_share = lost;
  context.reads = reads;
  add_advice(finding, context);
  return finding;
}

Judgement waiting(const DeviceSignals &signals, const Thresholds &limits) {
  const auto lost = waiting_share(signals, limits);
  if (!lost || *lost < limits.starved_lost_share) return std::nullopt;
  const bool serves =
      std::ranges::any_of(signals.jobs, [](const JobSignals &job) { return is_server(job) || is_interactive(job); });
  const bool computes = is_launching_or_preparing(signals, limits);
  const auto why =
      computes
          ? "for a process that uses a whole core: it prepares data, or launches kernels too small to fill the GPU, "
            "which this GPU does not tell apart"
      : serves ? "and neither the CPU nor storage explains it: it waits for requests"
               : "and neither the CPU nor storage explains it: the job sleeps, or waits for a network or for somebody";
  constexpr double kHalf = 0.5;
  auto finding =
      starved(FindingId::unknown, signals, limits, *lost, kHalf,
              fmt::format("The GPU waits {} of the time{} {}", percent_words(*lost * 100), computes ? "" : ",", why));
  finding.weight = serves && !computes ? Weight::ok : Weight::note;
  add_advice(finding, context_of(signals));
  return finding;
}

}  // namespace gpulse::insight::rules

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
  if (lost < limits.waiting_lost_share) return std::nullopt;
  return lost;
}

// Where the GPU does not tell what its processors do, power that rises shows that kernels do something.
bool does_something(const DeviceSignals &signals, const Thresholds &limits) {
  if (signals.tells_work()) return true;
  return signals.power_spread_share.value_or(0) >= limits.flat_power_share;
}

bool has_full_core(const DeviceSignals &signals, const Thresholds &limits) {
  const auto busy = signals.job_sum(&JobSignals::busy_processes);
  if (busy && *busy >= limits.busy_processes) return true;
  return signals.cpu_while_waiting().value_or(0) >= limits.cpu_full_share;
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
  if (!lost || !has_full_core(signals, limits) || !does_something(signals, limits)) return std::nullopt;
  constexpr double kFar = 0.4;
  auto finding = starved(
      FindingId::input_cpu, signals, limits, *lost, sureness(*lost, limits.waiting_lost_share, kFar),
      fmt::format("The GPU waits {} of the time for the CPU: {}", percent_words(*lost * 100), cpu_words(signals)));
  if (finding.estimated) finding.confidence /= 2;
  auto context = context_of(signals);
  context.lost_share = lost;
  add_advice(finding, context);
  return finding;
}

Judgement input_io(const DeviceSignals &signals, const Thresholds &limits) {
  const auto lost = waiting_share(signals, limits);
  if (!lost || has_full_core(signals, limits)) return std::nullopt;
  const auto source = source_of(signals, limits);
  const bool reads = source.read.value_or(0) >= limits.read_bytes_per_second;
  const bool receives = source.network.value_or(0) >= limits.network_bytes_per_second;
  if (!reads && !receives && !source.waits) return std::nullopt;
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
  constexpr double kHalf = 0.5;
  auto finding =
      starved(FindingId::unknown, signals, limits, *lost, kHalf,
              fmt::format("The GPU waits {} of the time, and neither the CPU nor storage explains it: {}",
                          percent_words(*lost * 100),
                          serves ? "it waits for requests" : "the job sleeps, or waits for a network or for somebody"));
  finding.weight = serves ? Weight::ok : Weight::note;
  add_advice(finding, context_of(signals));
  return finding;
}

}  // namespace gpulse::insight::rules

// SPDX-License-Identifier: Apache-2.0
// The GPU's memory: it grows without end, is nearly full, or has room for a larger batch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

namespace {

struct Growth {
  double bytes_per_second = 0;
  double fit = 0;
  double grown = 0;  // from the first to the last
};

// Grows from beginning to end, in more than a few steps, and hardly ever shrinks.
std::optional<Growth> growth_of(const Series &memory, double total, const Thresholds &limits) {
  constexpr std::size_t kFewest = 6, kFewestSteps = 4;
  constexpr double kFull = 0.97;
  // What has run out of memory cannot grow any more.
  Series room;
  for (std::size_t i = 0; i < memory.size() && memory.values()[i] < kFull * total; ++i) {
    room.add(memory.times()[i], memory.values()[i]);
  }
  if (room.size() < kFewest) return std::nullopt;
  const auto values = room.values();
  std::size_t steps = 0, late_steps = 0;
  double down = 0;
  const double late = (room.times().front() + 2 * room.times().back()) / 3;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] > values[i - 1]) {
      ++steps;
      if (room.times()[i] > late) ++late_steps;
    }
    down += std::max(0.0, values[i - 1] - values[i]);
  }
  const auto line = trend(room);
  const double grown = values.back() - values.front();
  constexpr double kMostDown = 0.2;
  if (!line || steps < kFewestSteps || late_steps == 0 || grown < limits.leak_share * total ||
      line->fit < limits.leak_fit || line->per_second <= 0 || down > kMostDown * grown) {
    return std::nullopt;
  }
  return Growth{.bytes_per_second = line->per_second, .fit = line->fit, .grown = grown};
}

struct Leak {
  Growth growth;
  const JobSignals *grower = nullptr;  // null: it cannot be told
};

std::optional<Leak> leak_of(const DeviceSignals &signals, const Thresholds &limits) {
  if (!signals.memory_total_bytes || signals.jobs.empty()) return std::nullopt;
  const double total = *signals.memory_total_bytes;
  const auto whole = growth_of(signals.memory, total, limits);
  if (!whole) return std::nullopt;
  // Who it is, where the driver tells.
  Leak leak{.growth = *whole};
  for (const auto &job : signals.jobs) {
    const auto own = growth_of(job.memory, total, limits);
    if (!own || (leak.grower != nullptr && own->grown <= leak.growth.grown)) continue;
    leak = {.growth = *own, .grower = &job};
  }
  if (leak.grower == nullptr && signals.jobs.size() == 1) leak.grower = &signals.jobs.front();
  if (leak.grower != nullptr ? takes_all_memory(*leak.grower) : takes_all_memory(signals)) return std::nullopt;
  return leak;
}

}  // namespace

Judgement memory_leak(const DeviceSignals &signals, const Thresholds &limits) {
  const auto leak = leak_of(signals, limits);
  if (!leak) return std::nullopt;
  const auto &[growth, grower] = *leak;
  const double total = *signals.memory_total_bytes;
  const double left = std::max(0.0, (total - *signals.memory_used_bytes()) / growth.bytes_per_second);
  auto finding = finding_of(
      FindingId::memory_leak, Weight::problem, signals, sureness(growth.fit, limits.leak_fit, 1 - limits.leak_fit),
      fmt::format("GPU memory grows by {} and will be full in {}", rate_words(growth.bytes_per_second),
                  left < 1 ? std::string("less than a second") : duration_words(left)));
  if (grower != nullptr) finding.pids = {grower->pid};
  finding.estimated = false;
  add_evidence(finding, {{"memory_growth_bytes_per_second", growth.bytes_per_second, Unit::bytes_per_second},
                         {"memory_grown_bytes", growth.grown, Unit::bytes},
                         {"memory_used_bytes", signals.memory_used_bytes(), Unit::bytes},
                         {"memory_total_bytes", total, Unit::bytes},
                         {"seconds_left", left, Unit::seconds},
                         {"fit", growth.fit, Unit::none}});
  add_advice(finding, context_of(signals));
  return finding;
}

Judgement memory_full(const DeviceSignals &signals, const Thresholds &limits) {
  const auto used = signals.memory_used_bytes();
  if (!used || !signals.memory_total_bytes || *signals.memory_total_bytes <= 0 || signals.jobs.empty())
    return std::nullopt;
  const double share = *used / *signals.memory_total_bytes;
  if (share < limits.full_share || takes_all_memory(signals) || leak_of(signals, limits)) return std::nullopt;
  const auto *most = &signals.jobs.front();
  for (const auto &job : signals.jobs) {
    if (job.memory.last().value_or(0) > most->memory.last().value_or(0)) most = &job;
  }
  const auto by = most->memory.last()
                      ? fmt::format("; process {} holds {}", most->pid, size_words(*most->memory.last()))
                      : std::string();
  auto finding = finding_of(FindingId::memory_full, Weight::note, signals,
                            sureness(share, limits.full_share, 1 - limits.full_share),
                            fmt::format("GPU memory is {} full{}", percent_words(share * 100), by));
  finding.estimated = false;
  add_evidence(finding, {{"memory_used_bytes", used, Unit::bytes},
                         {"memory_total_bytes", signals.memory_total_bytes, Unit::bytes},
                         {"memory_held_bytes", most->memory.last(), Unit::bytes}});
  add_advice(finding, context_of(signals));
  return finding;
}

Judgement memory_headroom(const DeviceSignals &signals, const Thresholds &limits) {
  const auto used = signals.memory.quantile(1);
  if (!used || *used <= 0 || !signals.memory_total_bytes || takes_all_memory(signals)) return std::nullopt;
  // A batch can grow only where a job works, and only its own memory grows with it.
  const auto work = signals.sm ? signals.sm : signals.utilization;
  if (work.value_or(0) < limits.working_sm_percent || !signals.has_compute_job()) return std::nullopt;
  if (*used >= limits.headroom_share * *signals.memory_total_bytes || leak_of(signals, limits)) return std::nullopt;
  constexpr double kSafe = 0.9, kMost = 64, kSure = 0.7;
  const double factor = std::min(kMost, std::floor(kSafe * *signals.memory_total_bytes / *used));
  auto finding = finding_of(FindingId::memory_headroom, Weight::note, signals, kSure,
                            fmt::format("{} of {} GPU memory were used at most: a batch {} times as large would fit",
                                        size_words(*used), size_words(*signals.memory_total_bytes), factor));
  finding.estimated = false;
  add_evidence(finding, {{"memory_peak_bytes", used, Unit::bytes},
                         {"memory_total_bytes", signals.memory_total_bytes, Unit::bytes},
                         {"batch_factor", factor, Unit::none}});
  auto context = context_of(signals);
  context.batch_factor = factor;
  add_advice(finding, context);
  return finding;
}

Judgement host_memory(const DeviceSignals &signals, const Thresholds &limits) {
  const auto &host = signals.host;
  const auto job = signals.job_sum(&JobSignals::host_memory_bytes);
  if (!host.memory_total_bytes || *host.memory_total_bytes <= 0 || !host.memory_bytes || signals.jobs.empty())
    return std::nullopt;
  const double share = *host.memory_bytes / *host.memory_total_bytes;
  constexpr double kLarge = 0.3;  // of the memory: it is this job that matters
  const bool own = job && *job >= kLarge * *host.memory_total_bytes;
  if (share < limits.host_memory_share || !own) return std::nullopt;
  const bool swaps = host.swap_total_bytes.value_or(0) > 0 && host.swap_used_bytes.value_or(0) > 0;
  auto finding = finding_of(
      FindingId::host_memory, Weight::problem, signals,
      sureness(share, limits.host_memory_share, 1 - limits.host_memory_share),
      fmt::format("The host's memory is {} full, {} of it is the job's{}", percent_words(share * 100), size_words(*job),
                  swaps ? fmt::format("; {} lie in swap space", size_words(*host.swap_used_bytes)) : ""));
  finding.estimated = false;
  add_evidence(finding, {{"host_memory_used_bytes", host.memory_bytes, Unit::bytes},
                         {"host_memory_total_bytes", host.memory_total_bytes, Unit::bytes},
                         {"job_host_memory_bytes", job, Unit::bytes},
                         {"host_swap_used_bytes", host.swap_used_bytes, Unit::bytes}});
  add_advice(finding, context_of(signals));
  return finding;
}

}  // namespace gpulse::insight::rules

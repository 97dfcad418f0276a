// SPDX-License-Identifier: Apache-2.0
#include "insight/diagnose.hpp"

#include <algorithm>
#include <set>

#include "insight/rules/rules.hpp"
#include "insight/signals.hpp"

namespace gpulse::insight {

namespace {

// What a GPU does, as opposed to what else there is to say of it.
bool is_state(FindingId id) {
  return std::ranges::any_of(state_rules(), [&](const Rule &rule) { return rule.id == id; });
}

Finding what_it_does(const DeviceSignals &signals, const Thresholds &limits) {
  for (const auto &rule : state_rules()) {
    if (auto finding = rule.judge(signals, limits)) return std::move(*finding);
  }
  return {};
}

// What the lost time adds up to if it goes on like this.
void add_cost(Finding &finding, std::span<const DeviceSignals> devices) {
  if (!finding.lost_share || finding.weight != Weight::problem) return;
  constexpr double kHoursADay = 24;
  double watts = 0;
  for (const auto &signals : devices) {
    if (std::ranges::find(finding.devices, signals.id) != finding.devices.end())
      watts += signals.power_watts.value_or(0);
  }
  const double hours = *finding.lost_share * kHoursADay;
  finding.evidence.push_back({.name = "lost_gpu_hours_per_day",
                              .value = hours * static_cast<double>(finding.devices.size()),
                              .unit = Unit::none});
  if (watts > 0) {
    finding.evidence.push_back({.name = "lost_watt_hours_per_day", .value = hours * watts, .unit = Unit::none});
  }
}

// Two findings of one kind about the same job are one.
struct Found {
  Finding finding;
  std::set<std::uint32_t> jobs;  // the processes, and who started them
};

Found found_on(const DeviceSignals &signals, Finding finding) {
  std::set<std::uint32_t> jobs;
  for (const auto &job : signals.jobs) {
    jobs.insert(job.pid);
    // The first process of the machine is everybody's.
    if (job.parent > 1) jobs.insert(job.parent);
  }
  finding.since = signals.begin;
  finding.until = signals.begin + std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(signals.seconds));
  return {std::move(finding), std::move(jobs)};
}

bool belong_together(const Found &a, const Found &b) {
  if (a.finding.id != b.finding.id || a.finding.weight != b.finding.weight) return false;
  if (a.finding.id == FindingId::idle) return true;
  return is_state(a.finding.id) && std::ranges::any_of(a.jobs, [&](auto pid) { return b.jobs.contains(pid); });
}

void join(Finding &to, const Finding &other) {
  const auto had = static_cast<double>(to.devices.size());
  if (to.lost_share && other.lost_share) to.lost_share = (*to.lost_share * had + *other.lost_share) / (had + 1);
  for (const auto &id : other.devices) to.devices.push_back(id);
  for (const auto pid : other.pids) {
    if (std::ranges::find(to.pids, pid) == to.pids.end()) to.pids.push_back(pid);
  }
  to.confidence = std::min(to.confidence, other.confidence);
  to.since = std::min(to.since, other.since);
  to.until = std::max(to.until, other.until);
}

void add(std::vector<Found> &all, Found found) {
  for (auto &known : all) {
    if (!belong_together(known, found)) continue;
    join(known.finding, found.finding);
    known.jobs.merge(found.jobs);
    return;
  }
  all.push_back(std::move(found));
}

double cost_of(const Finding &finding) {
  return finding.lost_share.value_or(0) * static_cast<double>(finding.devices.size());
}

}  // namespace

void sort_findings(std::vector<Finding> &findings) {
  std::ranges::sort(findings, [](const Finding &a, const Finding &b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    if (cost_of(a) != cost_of(b)) return cost_of(a) > cost_of(b);
    return std::tie(a.id, a.devices) < std::tie(b.id, b.devices);
  });
}

FindingId verdict_of(std::span<const Finding> findings) {
  const Finding *worst = nullptr, *state = nullptr;
  for (const auto &finding : findings) {
    if (finding.weight == Weight::problem && (worst == nullptr || cost_of(finding) > cost_of(*worst))) worst = &finding;
    if (!is_state(finding.id)) continue;
    // A GPU that is at work says more than one that is not.
    const bool better = state == nullptr || (state->id == FindingId::idle && finding.id != FindingId::idle) ||
                        (finding.id != FindingId::idle && finding.weight > state->weight);
    if (better) state = &finding;
  }
  if (worst != nullptr) return worst->id;
  return state != nullptr ? state->id : FindingId::unknown;
}

std::optional<double> best_speedup(const Finding &finding) {
  if (!finding.lost_share || *finding.lost_share <= 0 || *finding.lost_share >= 1) return std::nullopt;
  return 1 / (1 - *finding.lost_share);
}

Diagnosis diagnose(std::span<const SnapshotPtr> samples, const Thresholds &limits) {
  Diagnosis diagnosis{.samples = samples.size()};
  if (samples.empty()) return diagnosis;
  diagnosis.from = samples.front()->time;
  diagnosis.to = samples.back()->time;
  const auto devices = measure(samples);
  std::vector<Found> all;
  std::set<DeviceId> explained;  // waits for another one of its job
  for (auto &finding : imbalances(devices, limits)) {
    explained.insert(finding.devices.begin(), finding.devices.end());
    finding.since = diagnosis.from;
    finding.until = diagnosis.to;
    all.push_back({std::move(finding), {}});
  }
  for (const auto &signals : devices) {
    auto state = what_it_does(signals, limits);
    if (!explained.contains(signals.id) || state.weight == Weight::ok) add(all, found_on(signals, std::move(state)));
    for (const auto &rule : side_rules()) {
      if (auto finding = rule.judge(signals, limits)) add(all, found_on(signals, std::move(*finding)));
    }
  }
  for (auto &found : all) {
    add_cost(found.finding, devices);
    diagnosis.findings.push_back(std::move(found.finding));
  }
  sort_findings(diagnosis.findings);
  diagnosis.verdict = verdict_of(diagnosis.findings);
  return diagnosis;
}

}  // namespace gpulse::insight

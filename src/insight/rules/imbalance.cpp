// SPDX-License-Identifier: Apache-2.0
// GPUs of one job that wait for each other. Those that wait look busy: they spin until the last one is done.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "insight/rules/parts.hpp"

namespace gpulse::insight {

namespace {

using rules::add_advice;
using rules::add_evidence;

// Processes that a person or a system starts side by side belong together no more than the windows of a desktop.
bool is_launcher(const std::string &parent) {
  static const std::set<std::string, std::less<>> kOthers{
      "",     "bash", "sh",   "zsh",     "fish",    "dash",  "tmux: server", "screen",
      "sshd", "init", "cron", "systemd", "jupyter", "login", "tcsh",         "su"};
  return !kOthers.contains(parent);
}

// The devices of each job that is on several: one process on many, or many of one launcher.
std::vector<std::vector<const DeviceSignals *>> shared_jobs(std::span<const DeviceSignals> devices) {
  std::map<std::pair<bool, std::uint32_t>, std::vector<const DeviceSignals *>> jobs;
  for (const auto &device : devices) {
    std::set<std::pair<bool, std::uint32_t>> keys;
    for (const auto &job : device.jobs) {
      if (!job.compute) continue;
      keys.emplace(false, job.pid);
      if (job.parent > 1 && is_launcher(job.parent_name)) keys.emplace(true, job.parent);
    }
    for (const auto &key : keys) jobs[key].push_back(&device);
  }
  std::vector<std::vector<const DeviceSignals *>> shared;
  for (auto &[key, list] : jobs) {
    if (list.size() > 1) shared.push_back(std::move(list));
  }
  return shared;
}

using Job = std::vector<const DeviceSignals *>;

struct Unevenness {
  const DeviceSignals *last = nullptr;  // that the others wait for
  Job waiting{};
  const char *what = "";  // differs so much
  double least = 0, most = 0;
  double lost = 0;     // of the job's GPU time
  bool tells = false;  // by what the processors do, not by power
};

// Those that wait do less work; power tells where the processors do not.
std::optional<Unevenness> by_work(const Job &job, const Thresholds &limits) {
  const bool tells = std::ranges::all_of(job, [](const auto *device) { return device->sm.has_value(); });
  const bool powers = std::ranges::all_of(job, [](const auto *device) { return device->power_share.has_value(); });
  if (!tells && !powers) return std::nullopt;
  const auto work = [&](const DeviceSignals *device) { return tells ? *device->sm : 100 * *device->power_share; };
  const auto [low, high] = std::ranges::minmax_element(job, {}, work);
  Unevenness uneven{.last = *high,
                    .what = tells ? "processors at work lie between" : "power lies between",
                    .least = work(*low),
                    .most = work(*high),
                    .tells = tells};
  if (uneven.most - uneven.least < limits.imbalance_percent || uneven.least > limits.imbalance_share * uneven.most)
    return std::nullopt;
  for (const auto *device : job) {
    uneven.lost += (1 - work(device) / uneven.most) / static_cast<double>(job.size());
    if (work(device) <= limits.imbalance_share * uneven.most) uneven.waiting.push_back(device);
  }
  return uneven;
}

// Those that wait spin all of the time in a kernel on a few processors, and the one that they wait for rests in
// between.
std::optional<Unevenness> by_waiting(const Job &job, const Thresholds &limits) {
  if (!std::ranges::all_of(job, [](const auto *device) { return device->tells_work(); })) return std::nullopt;
  const auto busy = [](const DeviceSignals *device) { return *device->busy_percent(); };
  const auto [low, high] = std::ranges::minmax_element(job, {}, busy);
  Unevenness uneven{
      .last = *low, .what = "kernels run for between", .least = busy(*low), .most = busy(*high), .tells = true};
  if (uneven.most < limits.busy_percent || uneven.most - uneven.least < limits.imbalance_percent) return std::nullopt;
  for (const auto *device : job) {
    const bool spins = busy(device) >= limits.busy_percent && *device->sm < limits.waiting_sm_percent;
    if (!spins) continue;
    uneven.waiting.push_back(device);
    uneven.lost += (1 - *device->sm / 100) / static_cast<double>(job.size());
  }
  if (uneven.waiting.empty()) return std::nullopt;
  return uneven;
}

std::optional<Unevenness> unevenness_of(const Job &job, const Thresholds &limits) {
  if (auto uneven = by_work(job, limits)) return uneven;
  return by_waiting(job, limits);
}

}  // namespace

std::vector<Finding> imbalances(std::span<const DeviceSignals> devices, const Thresholds &limits) {
  std::vector<Finding> found;
  for (const auto &job : shared_jobs(devices)) {
    const auto uneven = unevenness_of(job, limits);
    if (!uneven) continue;
    std::vector<std::string> waiting;
    for (const auto *device : uneven->waiting) waiting.push_back(text(device->id));
    constexpr double kFar = 40;
    const auto &last = *uneven->last;
    auto finding =
        rules::finding_of(FindingId::imbalance, Weight::problem, last,
                          rules::sureness(uneven->most - uneven->least, limits.imbalance_percent, kFar),
                          fmt::format("GPU {} of the job wait{} for GPU {}: {} {} and {}", fmt::join(waiting, ", "),
                                      waiting.size() == 1 ? "s" : "", text(last.id), uneven->what,
                                      rules::percent_words(uneven->least), rules::percent_words(uneven->most)));
    finding.estimated = !uneven->tells;
    finding.devices.clear();
    std::set<std::uint32_t> pids;
    for (const auto *device : job) {
      finding.devices.push_back(device->id);
      for (const auto pid : device->pids()) pids.insert(pid);
    }
    finding.pids.assign(pids.begin(), pids.end());
    finding.lost_share = uneven->lost;
    add_evidence(finding, {{"least_percent", uneven->least},
                           {"most_percent", uneven->most},
                           {"sm_active_percent", last.sm},
                           {"graphics_active_percent", last.active},
                           {"devices", static_cast<double>(job.size()), Unit::none}});
    auto context = rules::context_of(last);
    context.lost_share = uneven->lost;
    add_advice(finding, context);
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace gpulse::insight

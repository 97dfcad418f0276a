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

}  // namespace

std::vector<Finding> imbalances(std::span<const DeviceSignals> devices, const Thresholds &limits) {
  std::vector<Finding> found;
  for (const auto &job : shared_jobs(devices)) {
    // Power tells who works where the processors do not say it.
    const bool tells = std::ranges::all_of(job, [](const auto *device) { return device->sm.has_value(); });
    const auto work = [&](const DeviceSignals *device) {
      return tells ? *device->sm : 100 * device->power_share.value_or(0);
    };
    if (!tells && !std::ranges::all_of(job, [](const auto *device) { return device->power_share.has_value(); }))
      continue;
    const auto [low, high] = std::ranges::minmax_element(job, {}, work);
    const double least = work(*low), most = work(*high);
    if (most - least < limits.imbalance_percent || least > limits.imbalance_share * most) continue;
    double lost = 0;
    std::vector<std::string> waiting;
    for (const auto *device : job) {
      lost += (1 - work(device) / most) / static_cast<double>(job.size());
      if (work(device) <= limits.imbalance_share * most) waiting.push_back(text(device->id));
    }
    constexpr double kFar = 40;
    auto finding = rules::finding_of(
        FindingId::imbalance, Weight::problem, **high, rules::sureness(most - least, limits.imbalance_percent, kFar),
        fmt::format("GPU {} of the job wait{} for GPU {}: {} of their processors work, there {}",
                    fmt::join(waiting, ", "), waiting.size() == 1 ? "s" : "", text((*high)->id),
                    rules::percent_words(least), rules::percent_words(most)));
    finding.estimated = !tells;
    finding.devices.clear();
    std::set<std::uint32_t> pids;
    for (const auto *device : job) {
      finding.devices.push_back(device->id);
      for (const auto pid : device->pids()) pids.insert(pid);
    }
    finding.pids.assign(pids.begin(), pids.end());
    finding.lost_share = lost;
    add_evidence(finding, {{tells ? "sm_active_least_percent" : "power_share_least_percent", least},
                           {tells ? "sm_active_most_percent" : "power_share_most_percent", most},
                           {"devices", static_cast<double>(job.size()), Unit::none}});
    auto context = rules::context_of(**high);
    context.lost_share = lost;
    add_advice(finding, context);
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace gpulse::insight

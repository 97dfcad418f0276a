// SPDX-License-Identifier: Apache-2.0
#include "insight/usage.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace gpulse::insight {

namespace {

constexpr std::array kAmounts{&GpuTime::held,    &GpuTime::active,    &GpuTime::active_of, &GpuTime::used,
                              &GpuTime::used_of, &GpuTime::wasted,    &GpuTime::wasted_of, &GpuTime::estimated,
                              &GpuTime::joules,  &GpuTime::joules_of, &GpuTime::added_up};

// The part of what a GPU did that falls to those who hold it; it works for nobody else.
double work_of_holders(double seconds, double share, double all_held) { return std::min(seconds * share, all_held); }

void add_energy(GpuTime &time, const DeviceStretch &stretch) {
  if (!stretch.joules || stretch.seconds <= 0) return;
  time.joules = *stretch.joules * time.held / stretch.seconds;
  time.joules_of = time.held;
  if (stretch.is_added_up) time.added_up = time.held;
}

std::optional<FindingId> worst_of(const std::map<FindingId, double> &lost) {
  const auto most = std::ranges::max_element(lost, {}, [](const auto &entry) { return entry.second; });
  return most == lost.end() || most->second <= 0 ? std::nullopt : std::optional(most->first);
}

std::string name_of(const Holder &holder, UsageBy by) {
  switch (by) {
    case UsageBy::user:
      return holder.user;
    case UsageBy::job:
      return holder.job;
    case UsageBy::account:
      return holder.account;
    case UsageBy::host:
      return holder.host;
    case UsageBy::model:
      return holder.model;
  }
  return {};
}

// What is added up under one name.
struct Sum {
  GpuTime time{};
  std::set<std::pair<std::string, std::string>> devices{};
  std::map<FindingId, double> lost{};

  void add(const UsageShare &share) {
    time += share.time;
    devices.emplace(share.holder.host.str(), share.holder.uuid.str());
    for (const auto &[id, seconds] : share.lost) lost[id] += seconds;
  }
};

auto most_wasted_first(const GpuTime &time) { return std::tuple(-time.wasted, -time.held); }

std::vector<UsageRow> rows_of(const std::vector<const UsageShare *> &shares, UsageBy by) {
  std::map<std::string, Sum> sums;
  for (const auto *share : shares) sums[name_of(share->holder, by)].add(*share);
  std::vector<UsageRow> rows;
  for (const auto &[name, sum] : sums) rows.push_back({name, sum.time, sum.devices.size(), worst_of(sum.lost)});
  std::ranges::stable_sort(rows, {}, [](const UsageRow &row) { return most_wasted_first(row.time); });
  return rows;
}

std::vector<UsageWorst> worst_rows(const std::vector<const UsageShare *> &shares, std::size_t top) {
  using Key = std::tuple<std::string, std::string, std::string>;  // user, job, command
  std::map<Key, Sum> sums;
  for (const auto *share : shares) {
    const auto &who = share->holder;
    // The processes of a job are one; what has no job is told apart by its program.
    sums[Key(who.user.str(), who.job.str(), who.job.empty() ? who.command.str() : "")].add(*share);
  }
  std::vector<UsageWorst> rows;
  for (const auto &[key, sum] : sums) {
    if (sum.time.wasted_of <= 0) continue;
    const auto &[user, job, command] = key;
    std::set<std::string> hosts;
    for (const auto &[host, uuid] : sum.devices) hosts.insert(host);
    const auto worst = worst_of(sum.lost);
    rows.push_back({.user = user,
                    .job = job,
                    .command = command,
                    .host = hosts.size() == 1 ? Text(*hosts.begin()) : Text(),
                    .time = sum.time,
                    .devices = sum.devices.size(),
                    .worst = worst,
                    .lost = worst ? sum.lost.at(*worst) : 0});
  }
  std::ranges::stable_sort(rows, {}, [](const UsageWorst &row) { return most_wasted_first(row.time); });
  if (rows.size() > top) rows.resize(top);
  return rows;
}

}  // namespace

GpuTime &GpuTime::operator+=(const GpuTime &other) {
  for (const auto amount : kAmounts) this->*amount += other.*amount;
  return *this;
}

GpuTime GpuTime::operator*(double factor) const {
  auto scaled = *this;
  for (const auto amount : kAmounts) scaled.*amount *= factor;
  return scaled;
}

std::vector<double> split_held(double seconds, std::span<const Presence> present) {
  std::map<std::size_t, double> of_owner;
  for (const auto &one : present) of_owner[one.owner] += one.seconds;
  double all = 0;
  for (const auto &[owner, sum] : of_owner) all += std::min(sum, seconds);
  const double squeeze = all > seconds ? seconds / all : 1;
  std::vector<double> held;
  held.reserve(present.size());
  for (const auto &one : present) {
    const double sum = of_owner[one.owner];
    held.push_back(sum > 0 ? std::min(sum, seconds) * squeeze * one.seconds / sum : 0);
  }
  return held;
}

GpuTime time_of_holder(const DeviceStretch &stretch, double all_held, double held) {
  GpuTime time{.held = held};
  if (held <= 0 || all_held <= 0) return {};
  const double part = held / all_held;
  if (stretch.utilization) {
    time.active = work_of_holders(stretch.seconds, *stretch.utilization, all_held) * part;
    time.active_of = held;
  }
  if (stretch.true_activity) {
    time.used = work_of_holders(stretch.seconds, *stretch.true_activity, all_held) * part;
    time.used_of = held;
  }
  if (stretch.true_activity || stretch.utilization) {
    time.wasted = held - (stretch.true_activity ? time.used : time.active);
    time.wasted_of = held;
    time.estimated = stretch.true_activity ? 0 : held;
  }
  add_energy(time, stretch);
  return time;
}

GpuTime time_of_nobody(const DeviceStretch &stretch, double all_held) {
  GpuTime time{.held = std::max(stretch.seconds - all_held, 0.0)};
  const auto left = [&](double share) {
    return stretch.seconds * share - work_of_holders(stretch.seconds, share, all_held);
  };
  if (stretch.utilization) {
    time.active = left(*stretch.utilization);
    time.active_of = time.held;
  }
  if (stretch.true_activity) {
    time.used = left(*stretch.true_activity);
    time.used_of = time.held;
  }
  add_energy(time, stretch);
  return time;
}

std::string_view word(UsageBy by) { return kUsageBy[static_cast<std::size_t>(by)]; }

std::optional<UsageBy> usage_by_named(std::string_view word) {
  const auto found = std::ranges::find(kUsageBy, word);
  if (found == kUsageBy.end()) return std::nullopt;
  return static_cast<UsageBy>(found - kUsageBy.begin());
}

UsageReport make_usage_report(const Usage &usage, const UsageRequest &request) {
  UsageReport report{.source = usage.source,
                     .place = usage.place,
                     .limits = usage.limits,
                     .from = usage.from,
                     .to = usage.to,
                     .recorded_seconds = usage.recorded_seconds,
                     .by = request.by,
                     .user = request.user,
                     .findings = usage.findings};
  std::vector<const UsageShare *> held;
  std::set<std::string> hosts, devices;
  for (const auto &share : usage.shares) {
    const auto &who = share.holder;
    const bool is_asked_for = request.user.empty() || (!who.is_nobody && who.user == request.user);
    if (!is_asked_for) continue;
    hosts.insert(who.host);
    devices.insert(who.host.str() + '\n' + who.uuid.str());
    if (who.is_nobody) {
      report.nobody += share.time;
    } else if (share.time.held > 0) {
      report.held += share.time;
      held.push_back(&share);
    }
  }
  report.hosts = hosts.size();
  report.devices = devices.size();
  report.rows = rows_of(held, request.by);
  report.worst = worst_rows(held, request.top);
  if (!request.user.empty()) {
    // How long each stood is known of the GPUs, not of one user's part of them.
    report.findings.clear();
    std::map<FindingId, double> lost;
    for (const auto *share : held) {
      for (const auto &[id, seconds] : share->lost) lost[id] += seconds;
    }
    for (const auto &[id, seconds] : lost) report.findings.push_back({.id = id, .lost = seconds});
  }
  std::ranges::stable_sort(report.findings, {}, [](const UsageFinding &finding) {
    return std::tuple(-finding.lost.value_or(-1), -finding.stood.value_or(0));
  });
  return report;
}

}  // namespace gpulse::insight

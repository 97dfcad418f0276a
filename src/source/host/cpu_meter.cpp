// SPDX-License-Identifier: Apache-2.0
#include "source/host/cpu_meter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace gpulse::host {

namespace {

struct Use {
  double total = 0;  // clock ticks; 0: none has passed
  double busy = 0;
  double user = 0;
  double system = 0;
  double idle = 0;
  double iowait = 0;
  double steal = 0;
  bool backwards = false;

  double percent(double part) const { return 100 * (part / total); }
};

double sum(const CpuTimes &times) {
  return std::accumulate(times.begin(), times.end(), 0.0,
                         [](double all, std::uint64_t ticks) { return all + static_cast<double>(ticks); });
}

Use use_between(const CpuTimes &before, const CpuTimes &now) {
  Use use;
  use.backwards = sum(now) < sum(before);
  std::array<double, std::tuple_size_v<CpuTimes>> delta{};
  for (std::size_t i = 0; i < now.size(); ++i) {
    // iowait and idle are estimates of the kernel and step back now and then.
    delta[i] = now[i] > before[i] ? static_cast<double>(now[i] - before[i]) : 0;
    use.total += delta[i];
    // The machine had work for stolen time: without it a starved virtual machine would look idle.
    if (i != CpuField::idle && i != CpuField::iowait) use.busy += delta[i];
  }
  use.user = delta[CpuField::user] + delta[CpuField::nice];
  use.system = delta[CpuField::system] + delta[CpuField::irq] + delta[CpuField::softirq];
  use.idle = delta[CpuField::idle];
  use.iowait = delta[CpuField::iowait];
  use.steal = delta[CpuField::steal];
  return use;
}

// The kernel counts a core's time in hundredths of a second: more digits would be noise.
double tenths(double percent) { return std::round(percent * 10) / 10; }

Reading busiest_core(const std::vector<CpuCore> &cores) {
  if (cores.empty()) return Reason::not_supported;
  Reading busiest = Reason::not_sampled;
  for (const auto &core : cores) {
    const auto &use = core.row[core_metric("cpu_percent")];
    if (use) busiest = std::max(busiest.value_or(0), use.value());
  }
  return busiest;
}

Reading told(std::optional<std::uint64_t> count) {
  return count ? Reading(static_cast<double>(*count)) : Reason::not_supported;
}

}  // namespace

void CpuMeter::tell_tasks(Monotonic now, Row &row) {
  row[host_metric("tasks_running")] = told(now_.tasks.running);
  row[host_metric("tasks_blocked")] = told(now_.tasks.blocked);
  row[host_metric("interrupts_per_second")] = interrupts_.update(now_.tasks.interrupts, now);
  row[host_metric("context_switches_per_second")] = context_switches_.update(now_.tasks.context_switches, now);
}

// Keeps the readings of cores that are still there.
void CpuMeter::list(std::vector<CpuCore> &cores) const {
  if (std::ranges::equal(cores, now_.cores, {}, &CpuCore::id, &CoreTimes::id)) return;
  auto before = std::exchange(cores, {});
  auto old = before.begin();
  for (const auto &core : now_.cores) {
    while (old != before.end() && old->id < core.id) ++old;
    const bool stays = old != before.end() && old->id == core.id;
    cores.push_back(stays ? std::move(*old++) : CpuCore{.id = core.id});
  }
}

// `cores` are those of now_.
void CpuMeter::compare(std::vector<CpuCore> &cores) const {
  auto old = before_.cores.begin();
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const auto &core = now_.cores[i];
    auto &busy = cores[i].row[core_metric("cpu_percent")];
    auto &iowait = cores[i].row[core_metric("cpu_iowait_percent")];
    // Cores are listed by number; one that was just switched on has nothing to compare with.
    while (old != before_.cores.end() && old->id < core.id) ++old;
    const bool known = has_before_ && old != before_.cores.end() && old->id == core.id;
    const auto use = known ? use_between(old->times, core.times) : Use{.backwards = true};
    // No tick of this core has passed: its last readings stand.
    if (!use.backwards && use.total <= 0) continue;
    busy = use.backwards ? Reading(Reason::not_sampled) : Reading(tenths(use.percent(use.busy)));
    iowait = use.backwards ? Reading(Reason::not_sampled) : Reading(tenths(use.percent(use.iowait)));
  }
}

bool CpuMeter::update(std::string_view text, Monotonic now, Row &row, std::vector<CpuCore> &cores) {
  if (!parse_stat(text, now_)) {
    *this = {};
    cores.clear();
    return false;
  }
  list(cores);
  tell_tasks(now, row);
  row[host_metric("cpu_count")] =
      now_.cores.empty() ? Reading(Reason::not_supported) : Reading(static_cast<double>(now_.cores.size()));
  const auto use = has_before_ ? use_between(before_.all, now_.all) : Use{.backwards = true};
  // Two readings within one clock tick: the last ones stand.
  if (!use.backwards && use.total <= 0) return true;
  const auto tell = [&](double part) -> Reading {
    return use.backwards ? Reading(Reason::not_sampled) : Reading(use.percent(part));
  };
  row[host_metric("cpu_percent")] = tell(use.busy);
  row[host_metric("cpu_user_percent")] = tell(use.user);
  row[host_metric("cpu_system_percent")] = tell(use.system);
  row[host_metric("cpu_idle_percent")] = tell(use.idle);
  row[host_metric("cpu_iowait_percent")] = tell(use.iowait);
  row[host_metric("cpu_steal_percent")] = tell(use.steal);
  compare(cores);
  row[host_metric("cpu_busiest_core_percent")] = busiest_core(cores);
  std::swap(before_, now_);
  has_before_ = true;
  return true;
}

}  // namespace gpulse::host

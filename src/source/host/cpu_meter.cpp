// SPDX-License-Identifier: Apache-2.0
#include "source/host/cpu_meter.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gpulse::host {

namespace {

struct Use {
  double total = 0;  // clock ticks; 0: no time has passed
  double busy = 0;
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
    // iowait and idle are estimates of the kernel's that now and then step back.
    delta[i] = now[i] > before[i] ? static_cast<double>(now[i] - before[i]) : 0;
    use.total += delta[i];
    // Stolen time is time this machine had work for: left out, a starved machine would look as if it had room.
    if (i != CpuField::idle && i != CpuField::iowait) use.busy += delta[i];
  }
  use.iowait = delta[CpuField::iowait];
  use.steal = delta[CpuField::steal];
  return use;
}

Reading busiest_core(const CpuText &before, const CpuText &now) {
  if (now.cores.empty()) return Reason::not_supported;
  Reading busiest = Reason::not_sampled;
  auto old = before.cores.begin();
  for (const auto &core : now.cores) {
    // Cores are listed by number; those switched on or off in between have nothing to be compared with.
    while (old != before.cores.end() && old->id < core.id) ++old;
    if (old == before.cores.end()) break;
    if (old->id != core.id) continue;
    const auto use = use_between(old->times, core.times);
    if (use.backwards || use.total <= 0) continue;
    busiest = std::max(busiest.value_or(0), use.percent(use.busy));
  }
  return busiest;
}

}  // namespace

bool CpuMeter::update(std::string_view text, Row &row) {
  if (!parse_stat(text, now_)) {
    has_before_ = false;
    return false;
  }
  row[host_metric("cpu_count")] =
      now_.cores.empty() ? Reading(Reason::not_supported) : Reading(static_cast<double>(now_.cores.size()));
  const auto use = has_before_ ? use_between(before_.all, now_.all) : Use{.backwards = true};
  // Two readings within one clock tick: what was told before still stands.
  if (!use.backwards && use.total <= 0) return true;
  const auto tell = [&](double part) -> Reading {
    return use.backwards ? Reading(Reason::not_sampled) : Reading(use.percent(part));
  };
  row[host_metric("cpu_percent")] = tell(use.busy);
  row[host_metric("cpu_iowait_percent")] = tell(use.iowait);
  row[host_metric("cpu_steal_percent")] = tell(use.steal);
  row[host_metric("cpu_busiest_core_percent")] =
      use.backwards ? Reading(Reason::not_sampled) : busiest_core(before_, now_);
  std::swap(before_, now_);
  has_before_ = true;
  return true;
}

}  // namespace gpulse::host

// SPDX-License-Identifier: Apache-2.0
// The board itself: its link to the host, its errors.
#include <fmt/format.h>

#include <algorithm>

#include "insight/rules/parts.hpp"
#include "metric/table.hpp"
#include "model/xid.hpp"

namespace gpulse::insight::rules {

Judgement link_degraded(const DeviceSignals &signals, const Thresholds &limits) {
  // A link rests while the GPU does.
  constexpr double kLoaded = 10;
  if (signals.utilization.value_or(0) < kLoaded || signals.jobs.empty()) return std::nullopt;
  const auto less = [](Number now, Number most) { return now && most && *now > 0 && *now < *most; };
  const bool narrow = less(signals.link_width, signals.link_width_max);
  const bool slow = less(signals.link_generation, signals.link_generation_max);
  if (!narrow && !slow) return std::nullopt;
  const double traffic =
      std::max(signals.receive_bytes_per_second.value_or(0), signals.send_bytes_per_second.value_or(0));
  const bool matters = signals.link_bytes_per_second && traffic >= limits.copy_share * *signals.link_bytes_per_second;
  constexpr double kSure = 0.9;
  auto finding = finding_of(
      FindingId::link_degraded, matters ? Weight::problem : Weight::note, signals, kSure,
      fmt::format("The PCIe link runs at generation {:.0f} x{:.0f} under load; generation {:.0f} x{:.0f} is possible",
                  signals.link_generation.value_or(0), signals.link_width.value_or(0),
                  signals.link_generation_max.value_or(0), signals.link_width_max.value_or(0)));
  finding.estimated = false;
  add_evidence(finding, {{"pcie_link_generation", signals.link_generation, Unit::none},
                         {"pcie_link_generation_max", signals.link_generation_max, Unit::none},
                         {"pcie_link_width", signals.link_width, Unit::none},
                         {"pcie_link_width_max", signals.link_width_max, Unit::none}});
  add_advice(finding, context_of(signals));
  return finding;
}

Judgement health(const DeviceSignals &signals, const Thresholds &) {
  constexpr double kSure = 0.95;
  const auto make = [&](Weight weight, std::string text, std::int64_t code) {
    auto finding = finding_of(FindingId::health, weight, signals, 1, std::move(text));
    finding.confidence = kSure;
    finding.estimated = false;
    for (const auto *list : {&signals.troubles, &signals.worries}) {
      finding.evidence.insert(finding.evidence.end(), list->begin(), list->end());
    }
    auto context = context_of(signals);
    context.code = code;
    if (code != 0) finding.evidence.push_back({.name = "xid", .value = static_cast<double>(code)});
    add_advice(finding, context);
    return finding;
  };
  if (signals.lost) return make(Weight::problem, "The GPU does not answer any more", 0);
  for (const auto &event : signals.events) {
    const auto *xid = event.kind == EventKind::xid ? find_xid(event.code) : nullptr;
    if (xid == nullptr || xid->application) continue;
    return make(Weight::problem, fmt::format("The driver reported XID {}: {}", event.code, xid->meaning), event.code);
  }
  const auto &list = signals.troubles.empty() ? signals.worries : signals.troubles;
  if (list.empty()) return std::nullopt;
  const auto id = find_metric(Scope::device, list.front().name);
  const auto help = id ? std::string(describe(*id).help) : list.front().name;
  return make(signals.troubles.empty() ? Weight::note : Weight::problem,
              fmt::format("The GPU reports: {}{}", help,
                          list.size() > 1 ? fmt::format(", and {} more", list.size() - 1) : std::string()),
              0);
}

}  // namespace gpulse::insight::rules

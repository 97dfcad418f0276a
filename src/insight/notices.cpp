// SPDX-License-Identifier: Apache-2.0
#include "insight/notices.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "insight/usual.hpp"
#include "metric/format.hpp"

namespace gpulse::insight {

const std::vector<MetricId> &watched_metrics() {
  static const auto kIds = [] {
    std::vector<MetricId> ids;
    for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
      const bool threshold = metric.role != Role::temperature && std::isfinite(std::min(metric.warn, metric.bad));
      if (!is_text(metric) && (metric.kind == Kind::set || threshold)) ids.push_back(id);
    });
    return ids;
  }();
  return kIds;
}

namespace {

void add_bits(std::vector<Notice> &out, MetricId id, std::uint64_t bits, Severity severity) {
  for (; bits != 0; bits &= bits - 1) {
    out.push_back({NoticeKind::held_back, severity, id, static_cast<double>(bits & -bits)});
  }
}

// At work, as far as it says so itself; one that is divided into instances tells its true activity alone.
bool is_busy(const Device &device) {
  constexpr double kBusy = 50;
  const auto reported = by_role(device.row, Role::utilization);
  const auto told = reported ? reported : by_role(device.row, Role::true_activity);
  return told && told.value() >= kBusy;
}

}  // namespace

std::vector<Notice> notices(const Device &device) {
  std::vector<Notice> found;  // in the order of the table
  for (const auto id : watched_metrics()) {
    const auto &reading = device.row[id];
    if (!reading) continue;
    const auto &metric = describe(id);
    if (metric.kind == Kind::set) {
      const auto bits = set_bits(reading.value());
      const auto usual = is_busy(device) ? usual_bits(metric) : 0;
      add_bits(found, id, bits & metric.grave, Severity::critical);
      add_bits(found, id, bits & ~metric.grave & ~metric.calm & ~usual, Severity::warning);
      add_bits(found, id, bits & usual, Severity::note);
    } else if (reading.value() >= std::min(metric.warn, metric.bad)) {
      const auto severity = reading.value() >= metric.bad ? Severity::critical : Severity::warning;
      found.push_back({NoticeKind::beyond_threshold, severity, id, reading.value()});
    }
  }
  std::vector<Notice> worst_first;
  worst_first.reserve(found.size());
  for (const auto severity : {Severity::critical, Severity::warning, Severity::note}) {
    std::ranges::copy_if(found, std::back_inserter(worst_first),
                         [&](const Notice &notice) { return notice.severity == severity; });
  }
  return worst_first;
}

bool seems_busier_than_it_is(const Device &device) {
  const auto reported = by_role(device.row, Role::utilization);
  const auto active = by_role(device.row, Role::true_activity);
  return is_busy(device) && reported && active && active.value() < reported.value() / 2;
}

}  // namespace gpulse::insight

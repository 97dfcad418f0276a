// SPDX-License-Identifier: Apache-2.0
#include "model/derived.hpp"

#include <array>

#include "metric/table.hpp"
#include "model/plausible.hpp"

namespace gpulse {

namespace {

// A percentage of a whole.
struct Share {
  MetricId percent, part, whole;
};
constexpr std::array kShares{
    Share{device_metric("memory_used_percent"), device_metric("memory_used_bytes"),
          device_metric("memory_total_bytes")},
    Share{host_metric("memory_used_percent"), host_metric("memory_used_bytes"), host_metric("memory_total_bytes")},
};

Reading percent_of(const Reading &part, const Reading &whole, MetricId percent) {
  if (!part) return part;
  if (!whole) return whole;
  if (whole.value() == 0) return Reason::out_of_range;
  return plausible(percent, 100 * part.value() / whole.value());
}

}  // namespace

[[gnu::hot]] void derive(Row &row, const MetricSet *only) {
  for (const auto &[percent, part, whole] : kShares) {
    if (brief(percent).scope != row.scope() || (only != nullptr && !only->contains(percent))) continue;
    row[percent] = percent_of(row[part], row[whole], percent);
  }
}

MetricSet with_inputs(MetricSet wanted) {
  for (const auto &[percent, part, whole] : kShares) {
    if (!wanted.contains(percent)) continue;
    wanted.add(part);
    wanted.add(whole);
  }
  return wanted;
}

}  // namespace gpulse

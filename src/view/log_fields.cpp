// SPDX-License-Identifier: Apache-2.0
#include "view/log_fields.hpp"

namespace gpulse::view {

namespace {

// Further readings up to the links between devices; what comes after is of interest to few.
constexpr std::uint8_t kLastRank = 11;

bool is_of_interest(const Metric &metric) {
  return metric.rank >= 1 && metric.rank <= kLastRank && metric.kind == Kind::gauge && metric.group != Group::engines;
}

}  // namespace

MetricSet log_fields() {
  MetricSet set;
  set.add_roles(Scope::device, {Role::utilization, Role::true_activity, Role::memory_bandwidth, Role::memory_used,
                                Role::memory_share, Role::power, Role::temperature, Role::clock});
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (is_of_interest(metric)) set.add(id);
  });
  set.add_roles(Scope::host, {Role::cpu, Role::host_memory, Role::memory_share, Role::disk_read, Role::disk_write,
                              Role::network_in, Role::network_out});
  return set;
}

}  // namespace gpulse::view

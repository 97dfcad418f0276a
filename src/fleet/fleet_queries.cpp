// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_queries.hpp"

#include <fmt/format.h>

#include "fleet/engine.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

namespace families = view::families;

constexpr std::array<std::string_view, kFleetParts> kWords{
    "utilization", "true activity", "memory used", "memory", "power", "temperature", "last sample", "times", "clocks",
    "state", "owners", "processes", "findings", "driver errors", "held but idle",
    // Of the last ten minutes.
    "utilization lately", "true activity lately", "power lately", "clock lately", "PCIe generation lately",
    "PCIe width lately", "power limit", "highest clock", "owners before"};

// Two Prometheus that scrape the same agent are told apart by labels of their own, which do not matter here. Hosts of
// two clusters may have one name.
std::string per_gpu(std::string_view more, const std::string &value) {
  return fmt::format("max by (instance,cluster,uuid{}) ({})", more, value);
}

// Where an owner is told of: what tells jobs apart, and nothing that changes within one.
constexpr std::string_view kOwnerLabels = ",user,batch_job,batch_account,gpu_pod,gpu_namespace";

std::string steady_query(FleetSteady steady) {
  const auto name = prometheus_name(describe(kSteadyMetrics[static_cast<std::size_t>(steady)]));
  switch (steady) {
    case FleetSteady::utilization:
      return fmt::format("{} and on (instance,cluster,uuid) {} offset 10m",
                         per_gpu("", fmt::format("avg_over_time({}[10m])", name)), name);
    case FleetSteady::clock:
      return per_gpu("", fmt::format("quantile_over_time(0.5, {}[10m])", name));
    case FleetSteady::link_generation:
    case FleetSteady::link_width:
      return per_gpu("", fmt::format("max_over_time({}[10m])", name));
    case FleetSteady::power_limit:
    case FleetSteady::clock_max:
      return per_gpu("", name);
    default:
      return per_gpu("", fmt::format("avg_over_time({}[10m])", name));
  }
}

}  // namespace

std::string_view word(FleetPart part) { return kWords[static_cast<std::size_t>(part)]; }

std::string fleet_query(FleetPart part) {
  switch (part) {
    case FleetPart::alive:
      return fmt::format("max by (instance,cluster) ({})", families::kTime);
    case FleetPart::told:
      return fmt::format("max by (instance,cluster) (timestamp({}))", families::kTime);
    case FleetPart::going:
      return fmt::format("max by (instance,cluster) ({0}) > max by (instance,cluster) ({0} offset 2m) + 30",
                         families::kTime);
    case FleetPart::state:
      return per_gpu(",gpu,state", fmt::format("{} == 1", families::kState));
    case FleetPart::owners:
      return per_gpu(kOwnerLabels, std::string(families::kOwner));
    case FleetPart::processes:
      return per_gpu("", prometheus_name(describe(role_metric<Scope::device>(Role::process_count))));
    case FleetPart::owners_before:
      return per_gpu(kOwnerLabels, fmt::format("{} offset 10m", families::kOwner));
    case FleetPart::findings:
      return per_gpu(",finding,severity", fmt::format("{} == 1", families::kFinding));
    case FleetPart::errors:
      return per_gpu(",xid", fmt::format("time() - {} < 900", families::kXidTime));
    case FleetPart::idle: {
      const auto busy = prometheus_name(total_of(describe(kReadingMetrics[0])));
      // Over a time in which nothing was told, a rate is too low.
      return fmt::format(
          "{0} < 0.02 and on (instance,cluster,uuid) {1} offset 15m and on (instance,cluster,uuid) {2} offset 5m",
          per_gpu("", fmt::format("rate({}[15m])", busy)), families::kOwner, busy);
    }
    default:
      break;
  }
  const auto place = static_cast<std::size_t>(part);
  if (place < kFleetReadings) return per_gpu("", prometheus_name(describe(kReadingMetrics[place])));
  return steady_query(static_cast<FleetSteady>(place - static_cast<std::size_t>(FleetPart::steady_utilization)));
}

std::string last_alive_query(const std::vector<std::string> &instances) {
  std::string names;
  for (const auto &instance : instances) names += (names.empty() ? "" : "|") + literal(instance);
  return fmt::format("max by (instance,cluster) (last_over_time({}{{instance=~{}}}[1d]))", families::kTime,
                     quoted(names));
}

}  // namespace gpulse::fleet

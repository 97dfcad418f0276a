// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_queries.hpp"

#include <fmt/format.h>

#include "fleet/engine.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

namespace families = view::families;

constexpr std::array<std::string_view, kFleetParts> kWords{
    "utilization", "true activity", "memory used", "memory",   "power",         "temperature",
    "last sample", "state",         "owners",      "findings", "driver errors", "held but idle"};

// Two Prometheus that scrape the same agent are told apart by labels of their own, which do not matter here.
std::string per_gpu(std::string_view more, const std::string &value) {
  return fmt::format("max by (instance,uuid{}) ({})", more, value);
}

}  // namespace

std::string_view word(FleetPart part) { return kWords[static_cast<std::size_t>(part)]; }

std::string fleet_query(FleetPart part) {
  switch (part) {
    case FleetPart::alive:
      return fmt::format("max by (instance,cluster) ({})", families::kTime);
    case FleetPart::state:
      return per_gpu(",state", fmt::format("{} == 1", families::kState));
    case FleetPart::owners:
      return per_gpu(",user,batch_job,batch_account,gpu_pod,gpu_namespace", std::string(families::kOwner));
    case FleetPart::findings:
      return per_gpu(",finding,severity", fmt::format("{} == 1", families::kFinding));
    case FleetPart::errors:
      return per_gpu(",xid", fmt::format("time() - {} < 900", families::kXidTime));
    case FleetPart::idle: {
      const auto busy = prometheus_name(total_of(describe(kReadingMetrics[0])));
      return fmt::format("{} < 0.02 and on (instance,uuid) {} offset 15m",
                         per_gpu("", fmt::format("rate({}[15m])", busy)), families::kOwner);
    }
    default:
      return per_gpu("", prometheus_name(describe(kReadingMetrics[static_cast<std::size_t>(part)])));
  }
}

std::string last_alive_query(const std::vector<std::string> &instances) {
  std::string names;
  for (const auto &instance : instances) names += (names.empty() ? "" : "|") + literal(instance);
  return fmt::format("max by (instance,cluster) (last_over_time({}{{instance=~{}}}[1d]))", families::kTime,
                     quoted(names));
}

}  // namespace gpulse::fleet

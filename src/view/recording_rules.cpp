// SPDX-License-Identifier: Apache-2.0
#include "view/recording_rules.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "metric/table.hpp"
#include "view/families.hpp"

namespace gpulse::view {

namespace {

constexpr std::array kRoles{Role::utilization,  Role::true_activity, Role::memory_used,
                            Role::memory_total, Role::power,         Role::temperature};

// What GPUs are summed up by. Two scrapers of one agent are told apart by labels that are none of these.
struct Level {
  std::string_view name, labels;
};
constexpr Level kHost{"instance", "cluster, instance"}, kCluster{"cluster", "cluster"};
constexpr std::string_view kGpu = "cluster, instance, uuid";

// How GPUs become one: what can be added is added.
std::string_view folding(const Metric &metric) {
  switch (metric.unit) {
    case Unit::percent:
      return "avg";
    case Unit::celsius:
      return "max";
    default:
      return "sum";
  }
}

class Rules {
 public:
  void group(std::string_view name) { out_ += fmt::format("  - name: {}\n    interval: 1m\n    rules:\n", name); }
  void add(const Level &level, std::string_view what, std::string_view how, std::string_view value) {
    out_ += fmt::format("      - record: {}:{}:{}\n        expr: ", level.name, what, how);
    JsonWriter(out_).value(fmt::format("{} by ({}) ({})", how, level.labels, value));  // its strings are YAML's
    out_ += '\n';
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_ =
      "# A fleet summed up from the metrics of gpulse serve; printed by: gpulse rules --format recording\ngroups:\n";
};

std::string each_gpu(std::string_view family) { return fmt::format("max by ({}) ({})", kGpu, family); }

void add_level(Rules &rules, const Level &level) {
  rules.group(fmt::format("gpulse-{}", level.name));
  rules.add(level, families::kGpus, "sum", fmt::format("max by (cluster, instance) ({})", families::kGpus));
  rules.add(level, "gpulse_gpus_held", "count", each_gpu(families::kOwner));
  rules.add(level, "gpulse_gpus_lost", "count",
            each_gpu(fmt::format("{}{{state=~\"lost|not responding\"}} == 1", families::kState)));
  rules.add(level, "gpulse_gpus_with_findings", "count", each_gpu(families::kFinding));
  for (const auto role : kRoles) {
    const auto id = find_role(Scope::device, role);
    if (!id) continue;
    const auto name = prometheus_name(describe(*id));
    rules.add(level, name, folding(describe(*id)), each_gpu(name));
  }
}

// A GPU that several share counts with each.
void add_holders(Rules &rules, std::string_view label) {
  const auto labels = fmt::format("cluster, {}", label);
  const Level level{label, labels};
  rules.group(fmt::format("gpulse-{}", label));
  const auto owners = fmt::format("max by ({}, {}) ({}{{{}!=\"\"}})", kGpu, label, families::kOwner, label);
  rules.add(level, "gpulse_gpus_held", "count", owners);
  for (const auto role : {Role::utilization, Role::true_activity, Role::power}) {
    const auto id = find_role(Scope::device, role);
    if (!id) continue;
    const auto name = prometheus_name(describe(*id));
    rules.add(level, name, folding(describe(*id)),
              fmt::format("{} * on ({}) group_left () {}", owners, kGpu, each_gpu(name)));
  }
}

}  // namespace

std::string recording_rules() {
  Rules rules;
  add_level(rules, kHost);
  add_level(rules, kCluster);
  if (const auto user = find_role(Scope::process, Role::user)) add_holders(rules, key_of(*user).key);
  for (const auto *label : {"batch_account", "batch_job"}) add_holders(rules, label);
  return rules.take();
}

}  // namespace gpulse::view

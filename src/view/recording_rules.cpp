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

// A reading of each; an instance is a part of its GPU.
std::string each_gpu(std::string_view family, std::string_view condition = {}) {
  return fmt::format(R"(max by ({}) ({}{{gpu!~".*:.*"{}}}))", kGpu, family, condition);
}

// What is told of a GPU or of one of its instances, once for the GPU; `labels`: that are kept, each with a comma.
std::string whole_gpus(std::string_view told, std::string_view labels = {}) {
  const auto parts = fmt::format(R"(max by ({}, parent) ({}{{parent!=""}}))", kGpu, families::kInfo);
  const auto each = fmt::format("max by ({}{}) ({})", kGpu, labels, told);
  return fmt::format(
      R"q(max by ({0}{1}) ({2} unless on ({0}) {3} or )q"
      R"q(label_replace(max by (cluster, instance, parent{1}) ({2} * on ({0}) group_left (parent) {3}), )q"
      R"q("uuid", "$1", "parent", "(.+)")))q",
      kGpu, labels, each, parts);
}

void add_level(Rules &rules, const Level &level) {
  rules.group(fmt::format("gpulse-{}", level.name));
  rules.add(level, families::kGpus, "sum", fmt::format("max by (cluster, instance) ({})", families::kGpus));
  rules.add(level, "gpulse_gpus_held", "count", whole_gpus(families::kOwner));
  rules.add(level, "gpulse_gpus_lost", "count",
            each_gpu(families::kState, R"(,state=~"lost|not responding")") + " == 1");
  rules.add(level, "gpulse_gpus_with_findings", "count", whole_gpus(families::kFinding));
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
  const auto owners = whole_gpus(fmt::format("{}{{{}!=\"\"}}", families::kOwner, label), fmt::format(", {}", label));
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

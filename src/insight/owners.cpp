// SPDX-License-Identifier: Apache-2.0
#include "insight/owners.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace gpulse::insight {

namespace {

struct ByText {
  bool operator()(const Owner &a, const Owner &b) const { return texts(a) < texts(b); }
  static std::tuple<const std::string &, const std::string &, const std::string &, const std::string &,
                    const std::string &, const std::string &>
  texts(const Owner &o) {
    return {o.user.str(), o.job.str(), o.account.str(), o.pod.str(), o.pod_namespace.str(), o.container.str()};
  }
};

Text text_of(const Process &process, Role role) {
  const auto id = find_role(Scope::process, role);
  return id && process.texts != nullptr ? Text((*process.texts)[*id].value_or("")) : Text();
}

Owner owner_of(const Process &process) {
  return {.user = text_of(process, Role::user),
          .job = text_of(process, Role::job),
          .account = text_of(process, Role::account),
          .pod = text_of(process, Role::pod),
          .pod_namespace = {},
          .container = text_of(process, Role::container)};
}

bool is_same_device(std::string_view name, const DeviceIdentity &identity) {
  name = name.substr(0, name.find("::"));
  return !name.empty() && (name == identity.uuid.str() || name == identity.pci.str());
}

std::vector<Owner> pods_on(const DeviceIdentity &identity, std::span<const PodDevice> pods) {
  std::vector<Owner> found;
  for (const auto &pod : pods) {
    if (!is_same_device(pod.device.str(), identity)) continue;
    Owner owner{.user = {},
                .job = {},
                .account = {},
                .pod = pod.pod,
                .pod_namespace = pod.pod_namespace,
                .container = pod.container};
    if (std::ranges::find(found, owner) == found.end()) found.push_back(std::move(owner));
  }
  return found;
}

std::vector<Owner> owners_of(const Device &device, const Snapshot &snapshot, std::span<const PodDevice> pods) {
  const auto holders = pods_on(*device.identity, pods);
  std::map<Owner, double, ByText> memory;  // that each holds
  for (const auto &holder : holders) {
    if (holders.size() > 1) memory[holder] = 0;
  }
  bool is_pod_seen = false;
  for (const auto &process : snapshot.processes) {
    if (process.device != device.id) continue;
    auto owner = owner_of(process);
    if (!holders.empty() && !owner.pod.empty()) {
      const auto &known = holders.size() == 1 ? holders.front() : Owner{};
      owner.pod = known.pod;
      owner.pod_namespace = known.pod_namespace;
      owner.container = known.container;
      is_pod_seen = true;
    }
    memory[std::move(owner)] += by_role(process.row, Role::memory_used).value_or(0);
  }
  // Given to a pod that does nothing with it.
  if (holders.size() == 1 && !is_pod_seen) memory[holders.front()] = 0;
  std::vector<std::pair<Owner, double>> all(memory.begin(), memory.end());
  std::ranges::sort(all, [](const auto &a, const auto &b) {
    return a.second != b.second ? a.second > b.second : ByText()(a.first, b.first);
  });
  std::vector<Owner> owners;
  for (auto &[owner, bytes] : all) owners.push_back(std::move(owner));
  if (owners.size() > kMostOwners) {
    owners.resize(kMostOwners);
    owners.push_back(
        {.user = Text(kOtherOwners), .job = {}, .account = {}, .pod = {}, .pod_namespace = {}, .container = {}});
  }
  return owners;
}

}  // namespace

std::vector<DeviceOwners> owners(const Snapshot &snapshot, std::span<const PodDevice> pods) {
  std::vector<DeviceOwners> all;
  for (const auto &device : snapshot.devices) {
    if (device.identity == nullptr || device.identity->uuid.empty()) continue;
    if (std::ranges::find(all, device.identity->uuid, &DeviceOwners::uuid) != all.end()) continue;
    auto found = owners_of(device, snapshot, pods);
    if (!found.empty()) all.push_back({.uuid = device.identity->uuid, .owners = std::move(found)});
  }
  return all;
}

}  // namespace gpulse::insight

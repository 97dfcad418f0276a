// SPDX-License-Identifier: Apache-2.0
#include "cli/change.hpp"

#include <algorithm>
#include <cmath>

#include "source/registry.hpp"

namespace gpulse::cli {

namespace {

constexpr auto kNothing = Reason::not_supported;

constexpr MetricId kRequested = device_metric("power_limit_requested_watts");
constexpr MetricId kInForce = device_metric("power_limit_watts");
constexpr MetricId kDefault = device_metric("power_limit_default_watts");
constexpr MetricId kLeast = device_metric("power_limit_min_watts");
constexpr MetricId kMost = device_metric("power_limit_max_watts");
constexpr MetricId kPersistence = device_metric("persistence_mode");

Reading shown(const Setting &setting, const Device &device) {
  const auto id = metric_of(setting, device);
  return id ? device.row[*id] : Reading(kNothing);
}

Reading target_of(const Setting &setting, const Device &device) {
  if (setting.kind == SettingKind::reset) return kNothing;
  if (!setting.to_default) return setting.low;
  return setting.kind == SettingKind::power_limit ? device.row[kDefault] : Reading(kNothing);
}

bool differ(const Reading &a, const Reading &b, double by) { return !a || !b || std::abs(a.value() - b.value()) >= by; }

std::string name_of(const Process &process) {
  if (process.texts == nullptr) return {};
  const auto &name = (*process.texts)[process_metric("name")];
  return name ? name.value() : std::string();
}

std::vector<User> users_of(const Snapshot &snapshot, const Device &device) {
  std::vector<User> users;
  for (const auto &process : snapshot.processes) {
    const auto on = std::find_if(snapshot.devices.begin(), snapshot.devices.end(),
                                 [&](const Device &one) { return one.index == process.device; });
    const bool instance = on != snapshot.devices.end() && on->parent == device.index;
    const bool known =
        std::any_of(users.begin(), users.end(), [&](const User &user) { return user.pid == process.pid; });
    if ((process.device == device.index || instance) && !known) users.push_back({process.pid, name_of(process)});
  }
  return users;
}

Obstacle obstacle_of(const Setting &setting, const Change &change) {
  if (setting.kind == SettingKind::reset) return change.users.empty() ? Obstacle::none : Obstacle::in_use;
  const auto &target = change.target;
  const bool below = target && change.least && target.value() < change.least.value();
  const bool above = target && change.most && target.value() > change.most.value();
  if (below || above) return Obstacle::out_of_range;
  constexpr double kMilliwatt = 1e-3;
  return differ(change.before, target, kMilliwatt) ? Obstacle::none : Obstacle::already;
}

}  // namespace

bool Change::ignored() const {
  // Firmware rounds a power limit to whole watts.
  return !error && after && target && differ(after, target, 1);
}

MetricSet needs_of(const Setting &setting) {
  switch (setting.kind) {
    case SettingKind::persistence:
      return {kPersistence};
    case SettingKind::compute_mode:
      return {device_metric("compute_mode")};
    case SettingKind::power_limit:
      return {kRequested, kInForce, kDefault, kLeast, kMost, kPersistence};
    case SettingKind::graphics_clocks:
    case SettingKind::memory_clocks:
      return {kPersistence};
    case SettingKind::ecc:
      return {device_metric("ecc_mode_pending")};
    case SettingKind::reset:
      return {device_metric("process_count"), process_metric("name")};
  }
  return {};
}

std::optional<MetricId> metric_of(const Setting &setting, const Device &device) {
  switch (setting.kind) {
    case SettingKind::persistence:
      return kPersistence;
    case SettingKind::compute_mode:
      return device_metric("compute_mode");
    case SettingKind::power_limit:
      return device.row[kRequested] ? kRequested : kInForce;
    case SettingKind::ecc:
      return device_metric("ecc_mode_pending");
    default:
      return std::nullopt;
  }
}

std::vector<Device> whole_devices(const Snapshot &snapshot) {
  std::vector<Device> whole;
  for (const auto &device : snapshot.devices) {
    if (device.identity->parent.empty()) whole.push_back(device);
  }
  return whole;
}

std::vector<Change> plan(const Setting &setting, const Snapshot &all, std::span<const Device> devices) {
  std::vector<Change> changes;
  for (const auto &device : devices) {
    Change change{.device = device, .before = shown(setting, device), .target = target_of(setting, device)};
    if (setting.kind == SettingKind::power_limit) {
      change.least = device.row[kLeast];
      change.most = device.row[kMost];
    }
    if (setting.kind != SettingKind::persistence) change.lasting = device.row[kPersistence];
    if (setting.kind == SettingKind::reset) change.users = users_of(all, device);
    change.obstacle = obstacle_of(setting, change);
    changes.push_back(std::move(change));
  }
  return changes;
}

void apply(const Setting &setting, Change &change, const Sysroot &root) {
  if (auto done = change_setting(root, *change.device.identity, setting); !done) change.error = done.error();
}

Result<void> read_back(const Setting &setting, std::span<Change> changes, feed::Feed &feed) {
  const auto now = feed.again();
  if (!now) return std::unexpected(now.error());
  for (auto &change : changes) {
    const auto &devices = (*now)->devices;
    const auto same_device = std::find_if(devices.begin(), devices.end(), [&](const Device &one) {
      return one.identity->uuid == change.device.identity->uuid;
    });
    if (same_device != devices.end()) change.after = shown(setting, *same_device);
  }
  return {};
}

}  // namespace gpulse::cli

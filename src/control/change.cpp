// SPDX-License-Identifier: Apache-2.0
#include "control/change.hpp"

#include <algorithm>
#include <cmath>

#include "source/registry.hpp"

namespace gpulse::control {

namespace {

constexpr MetricId kPersistence = device_metric("persistence_mode");

Reading value_of(std::optional<MetricId> id, const Device &device) {
  if (!id) return Reason::not_supported;
  if (describe(*id).scope == Scope::device) return device.row[*id];
  return device.details != nullptr ? device.details->row[*id] : Reading(Reason::not_supported);
}

Reading target_of(const Setting &setting, const SettingRow &row, const Device &device) {
  if (is_action(row) || row.takes == Takes::clock_pair) return Reason::not_supported;
  return setting.to_default ? value_of(row.default_value, device) : Reading(setting.low);
}

bool differ(const Reading &a, const Reading &b, double by) { return !a || !b || std::abs(a.value() - b.value()) >= by; }

bool forgets_soon(const Setting &setting, const SettingRow &row, const Device &device) {
  if (row.effect != Effect::until_unload || setting.to_default) return false;
  const auto &persistence = device.row[kPersistence];
  return persistence && persistence.value() == 0;
}

std::string name_of(const Process &process) {
  if (process.texts == nullptr) return {};
  const auto &name = (*process.texts)[process_metric("name")];
  return name ? name.value() : std::string();
}

std::vector<User> users_of(const Snapshot &snapshot, const Device &device) {
  std::vector<User> users;
  for (const auto &process : snapshot.processes) {
    const bool known =
        std::any_of(users.begin(), users.end(), [&](const User &user) { return user.pid == process.pid; });
    if (is_on(process.device, device) && !known) users.push_back({process.pid, name_of(process)});
  }
  return users;
}

Obstacle obstacle_of(const Change &change) {
  if (!change.users.empty()) return Obstacle::in_use;
  const auto &target = change.target;
  const bool below = target && change.minimum && target.value() < change.minimum.value();
  const bool above = target && change.maximum && target.value() > change.maximum.value();
  if (below || above) return Obstacle::out_of_range;
  constexpr double kMilliwatt = 1e-3;
  return differ(change.before, target, kMilliwatt) ? Obstacle::none : Obstacle::already_set;
}

}  // namespace

bool Change::ignored() const {
  // Firmware rounds a power limit to whole watts.
  return !error && after && target && differ(after, target, 1);
}

bool is_held_up_by_monitors(const Setting &setting) {
  const auto &row = row_of(setting.kind);
  return row.only_when_idle || !row.smi.waits_in_use.empty();
}

MetricSet needs_of(const Setting &setting) {
  const auto &row = row_of(setting.kind);
  MetricSet needs;
  needs.add(row.shown_by);
  for (const auto &id : {row.default_value, row.minimum, row.maximum}) {
    if (id) needs.add(*id);
  }
  if (row.effect == Effect::until_unload) needs.add(kPersistence);
  if (row.only_when_idle) {
    needs.add(device_metric("process_count"));
    needs.add(process_metric("name"));
  }
  return needs;
}

std::optional<MetricId> metric_of(const Setting &setting, const Device &device) {
  const auto shown_by = row_of(setting.kind).shown_by;
  if (shown_by.empty()) return std::nullopt;
  const auto found =
      std::find_if(shown_by.begin(), shown_by.end(), [&](MetricId id) { return bool(value_of(id, device)); });
  return found == shown_by.end() ? shown_by.back() : *found;
}

std::vector<Device> whole_devices(const Snapshot &snapshot) {
  std::vector<Device> whole;
  for (const auto &device : snapshot.devices) {
    if (device.identity->parent.empty()) whole.push_back(device);
  }
  return whole;
}

std::vector<Change> plan(const Setting &setting, const Snapshot &all, std::span<const Device> devices) {
  const auto &row = row_of(setting.kind);
  std::vector<Change> changes;
  for (const auto &device : devices) {
    Change change{
        .device = device,
        .before = value_of(metric_of(setting, device), device),
        .target = target_of(setting, row, device),
        .minimum = value_of(row.minimum, device),
        .maximum = value_of(row.maximum, device),
        .soon_forgotten = forgets_soon(setting, row, device),
    };
    if (row.only_when_idle) change.users = users_of(all, device);
    change.obstacle = obstacle_of(change);
    changes.push_back(std::move(change));
  }
  return changes;
}

void apply(const Setting &setting, Change &change, const Sysroot &root) {
  const auto done = change_setting(root, *change.device.identity, setting);
  if (done) {
    change.waits = done->waits;
  } else {
    change.error = done.error();
  }
}

void read_back(const Setting &setting, std::span<Change> changes, const Snapshot &now) {
  for (auto &change : changes) {
    const auto same_device = std::find_if(now.devices.begin(), now.devices.end(), [&](const Device &device) {
      return device.identity->uuid == change.device.identity->uuid;
    });
    if (same_device != now.devices.end()) change.after = value_of(metric_of(setting, *same_device), *same_device);
  }
}

}  // namespace gpulse::control

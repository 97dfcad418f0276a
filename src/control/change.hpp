// SPDX-License-Identifier: Apache-2.0
// Changing a setting: what stands in the way, the change itself, and the value read back. Commands call these on their
// main thread, which then waits for the driver.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/rows.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"
#include "source/api/setting.hpp"

namespace gpulse::control {

// Why a change should not be made, known before the driver is asked.
enum class Obstacle : std::uint8_t { none, already_set, out_of_range, in_use };

struct User {
  std::uint32_t pid = 0;
  std::string name;  // empty if unknown
};

// One setting on one device: what was planned, and what became of it.
struct Change {
  Device device;                           // as it was before
  Reading before{Reason::not_supported};   // of the setting's metric
  Reading target{Reason::not_supported};   // the default's value where the device reports it
  Reading minimum{Reason::not_supported};  // that can be set
  Reading maximum{Reason::not_supported};  //
  Obstacle obstacle = Obstacle::none;
  bool soon_forgotten = false;          // the driver keeps the value only while it has users
  std::vector<User> users{};            // of a device that must be idle for the change
  std::optional<SettingError> error{};  // from the driver
  std::optional<SettingError> waits{};  // made, but not in effect before a reset: why
  Reading after{Reason::not_supported};

  // The driver reported success, but the device shows another value.
  bool ignored() const;
};

// Whether a driver makes the change only, or only at once, while no monitor holds the device open.
bool is_held_up_by_monitors(const Setting &setting);

// What to read for the values before and after, and for the range.
MetricSet needs_of(const Setting &setting);
// The metric that shows the setting on this device, if there is one.
std::optional<MetricId> metric_of(const Setting &setting, const Device &device);

// Without MIG instances, which have no settings of their own.
std::vector<Device> whole_devices(const Snapshot &snapshot);

// The change for each device. `all` is the snapshot they come from, with their processes.
std::vector<Change> plan(const Setting &setting, const Snapshot &all, std::span<const Device> devices);

void apply(const Setting &setting, Change &change, const Sysroot &root);

// Fills in `after` from a snapshot taken since.
void read_back(const Setting &setting, std::span<Change> changes, const Snapshot &now);

}  // namespace gpulse::control

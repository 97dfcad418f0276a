// SPDX-License-Identifier: Apache-2.0
// Changing settings: what stands in the way, the change, and the value read back. How it is said is the commands'
// business.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "feed/feed.hpp"
#include "source/api/setting.hpp"

namespace gpulse::cli {

// Why a change is not to be made, known without asking the driver.
enum class Obstacle : std::uint8_t { none, already, out_of_range, in_use };

struct User {
  std::uint32_t pid = 0;
  std::string name;  // empty where it cannot be told
};

// What a setting is to do to one device, and what it did.
struct Change {
  Device device;                           // as it was before
  Reading before{Reason::not_supported};   // of the setting's metric
  Reading target{Reason::not_supported};   // a default stands as its number where the device tells it
  Reading least{Reason::not_supported};    // of what can be set
  Reading most{Reason::not_supported};     //
  Reading lasting{Reason::not_supported};  // 0: the driver forgets the setting when its last user ends
  Obstacle obstacle = Obstacle::none;
  std::vector<User> users{};            // of a device that is to be reset
  std::optional<SettingError> error{};  // of the driver
  Reading after{Reason::not_supported};

  // Whether the driver took the value but shows another.
  bool ignored() const;
};

// What is read to know the value before and after, and what can be set.
MetricSet needs_of(const Setting &setting);
// The metric that shows the setting on this device; none where nothing does.
std::optional<MetricId> metric_of(const Setting &setting, const Device &device);

// The whole devices among those: settings are not of instances.
std::vector<Device> whole_devices(const Snapshot &snapshot);

// What stands in the way on each of the devices; `all` is where they and their users are from.
std::vector<Change> plan(const Setting &setting, const Snapshot &all, std::span<const Device> devices);

void apply(const Setting &setting, Change &change, const Sysroot &root);

// Fills in what the devices show now, of those changed.
Result<void> read_back(const Setting &setting, std::span<Change> changes, feed::Feed &feed);

}  // namespace gpulse::cli

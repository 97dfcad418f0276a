// SPDX-License-Identifier: Apache-2.0
// For tests: what an agent might see.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "alert/judge.hpp"

namespace gpulse::alert {

inline constexpr WallTime kBegin{std::chrono::hours(400'000)};
inline constexpr auto kTemperature = device_metric("temperature_gpu_celsius");

inline Device gpu(std::uint32_t index, DeviceState state = DeviceState::ok) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = "GPU-" + std::to_string(index);
  identity->name = "Acme 9";
  Device made;
  made.id.index = index;
  made.identity = identity;
  made.state = state;
  made.row.fill(state == DeviceState::ok ? Reason::not_supported : Reason::lost);
  return made;
}

inline Sight sight(WallTime now, std::vector<Device> devices) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->hostname = "n1";
  snapshot->devices = std::move(devices);
  return {.now = now, .is_fresh = true, .snapshot = std::move(snapshot)};
}

inline Sight at_temperature(WallTime now, std::initializer_list<double> all) {
  std::vector<Device> devices;
  for (const double celsius : all) {
    devices.push_back(gpu(static_cast<std::uint32_t>(devices.size())));
    devices.back().row[kTemperature] = celsius;
  }
  return sight(now, std::move(devices));
}

// An alert as one that has been told.
inline Alert told(std::string rule, std::string gpu, std::string id = "a1") {
  Alert alert{.rule = std::move(rule), .level = AlertLevel::critical, .id = std::move(id), .phase = Phase::firing};
  alert.gpu = std::move(gpu);
  alert.uuid = "GPU-" + alert.gpu.str();
  alert.summary = "GPU " + alert.gpu.str() + " of n1 is lost";
  alert.description = "What to do.";
  alert.since = alert.fired = alert.seen = kBegin;
  return alert;
}

}  // namespace gpulse::alert

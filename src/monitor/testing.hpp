// SPDX-License-Identifier: Apache-2.0
// Test support: samples made by hand, and a machine whose feed does what the test says. Any thread may change it.
#pragma once

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "monitor/monitor.hpp"

namespace gpulse::monitor::testing {

using namespace std::chrono_literals;

inline constexpr auto kPower = device_metric("power_draw_watts");
inline constexpr auto kPowerLimit = device_metric("power_limit_watts");
inline constexpr auto kEnergy = device_metric("energy_joules");
inline constexpr auto kUtilization = device_metric("gpu_utilization_percent");
inline constexpr auto kActivity = device_metric("sm_active_percent");
inline constexpr auto kMemoryUsed = device_metric("memory_used_bytes");
inline constexpr auto kMemoryTotal = device_metric("memory_total_bytes");
inline constexpr auto kProcessCount = device_metric("process_count");

inline Device make_device(std::uint32_t index, const std::string &uuid) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = uuid;
  Device device;
  device.id.index = index;
  device.identity = std::move(identity);
  device.row.fill(Reason::not_supported);
  return device;
}

inline Process make_process(std::uint32_t pid, std::uint32_t index, Reading bytes) {
  Process process;
  process.pid = pid;
  process.device.index = index;
  process.row[process_metric("gpu_memory_bytes")] = bytes;
  return process;
}

// As a monitor would publish it, so long after the clock's zero.
inline SamplePtr make_sample(std::chrono::nanoseconds at, std::vector<Device> devices, const SamplePtr &before = {},
                             std::vector<Process> processes = {}) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->time = WallTime(at);
  snapshot->devices = std::move(devices);
  snapshot->processes = std::move(processes);
  auto sample = std::make_unique<Sample>();
  sample->at = Monotonic(at);
  for (const auto &device : snapshot->devices) sample->ids.push_back(text(device.id));
  sample->snapshot = std::move(snapshot);
  sample->points = region_points(*sample, before);
  return SamplePtr(sample.release());
}

// A GPU that somebody holds without using it, so long after the clock's zero.
inline SnapshotPtr make_hung(std::chrono::nanoseconds at, const std::string &uuid = "GPU-0") {
  constexpr double kHeld = 20e9;
  auto device = make_device(0, uuid);
  for (const auto metric : {kUtilization, kActivity, device_metric("graphics_active_percent")})
    device.row[metric] = 0.0;
  device.row[kProcessCount] = 1.0;
  device.row[kMemoryUsed] = kHeld;
  device.row[kMemoryTotal] = 4 * kHeld;
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->time = WallTime(at);
  snapshot->devices = {std::move(device)};
  snapshot->processes = {make_process(4711, 0, kHeld)};
  return snapshot;
}

// What the feed of a monitor reads.
class FakeMachine {
 public:
  struct State {
    double watts = 0;
    bool fails = false;   // every sample
    bool throws = false;  // every sample
    bool from_agent = false;
    std::chrono::nanoseconds age{0};  // of what the feed hands on: an agent's sample was taken a while ago
    std::vector<std::string> uuids{"GPU-0"};
    std::vector<SnapshotPtr> past{};  // that an agent took
  };

  void change(const auto &how) {
    const std::lock_guard lock(mutex_);
    how(state_);
  }
  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  SnapshotPtr sample() const {
    const auto now = state();
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->time = wall_now() - now.age;
    for (const auto &uuid : now.uuids) {
      snapshot->devices.push_back(make_device(static_cast<std::uint32_t>(snapshot->devices.size()), uuid));
      snapshot->devices.back().row[kPower] = now.watts;
    }
    return snapshot;
  }

  OpenFeed opener();

 private:
  mutable std::mutex mutex_;
  State state_;
};

class FakeFeed final : public feed::Feed {
 public:
  explicit FakeFeed(const FakeMachine &machine) : machine_(machine) {}

  bool is_live() const override { return true; }
  Result<SnapshotPtr> once(const std::stop_token &stop) override { return again(stop); }
  Result<SnapshotPtr> next(const std::stop_token &stop) override { return again(stop); }
  Result<SnapshotPtr> again(const std::stop_token &) override {
    const auto state = machine_.state();
    from_agent_ = state.from_agent;
    if (state.throws) throw std::runtime_error("a bug");
    if (state.fails) return failure("the cable is out");
    return machine_.sample();
  }
  std::vector<SnapshotPtr> past() override { return machine_.state().past; }
  bool is_from_agent() const override { return from_agent_; }

 private:
  const FakeMachine &machine_;
  bool from_agent_ = false;
};

inline OpenFeed FakeMachine::opener() {
  return [this](const feed::Options &, const std::stop_token &) -> Result<std::unique_ptr<feed::Feed>> {
    return std::make_unique<FakeFeed>(*this);
  };
}

}  // namespace gpulse::monitor::testing

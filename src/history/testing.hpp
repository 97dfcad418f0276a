// SPDX-License-Identifier: Apache-2.0
// Machines made up for the tests of a history.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "history/store.hpp"
#include "model/snapshot.hpp"

namespace gpulse::history::testing {

inline constexpr std::int64_t kStart = 1'700'000'040;  // where a minute begins

inline WallTime at(double second) {
  return WallTime(std::chrono::nanoseconds(static_cast<std::int64_t>((static_cast<double>(kStart) + second) * 1e9)));
}

inline Device make_device(std::uint32_t index) {
  Device device;
  device.id = {.index = index};
  auto identity = std::make_shared<DeviceIdentity>();
  identity->source = "nvml";
  identity->vendor = "nvidia";
  identity->uuid = "GPU-" + std::to_string(index);
  identity->name = "NVIDIA H200";
  device.identity = identity;
  return device;
}

inline Process make_process(std::uint32_t pid, std::uint32_t device, std::string user, std::string command) {
  Process process;
  process.pid = pid;
  process.device = {.index = device};
  process.types = static_cast<std::uint8_t>(ProcessType::compute);
  process.start_ticks = 100 + pid;
  auto texts = std::make_shared<TextRow>(Scope::process);
  (*texts)[process_metric("user")] = TextReading(Text(std::move(user)));
  (*texts)[process_metric("command")] = TextReading(Text(std::move(command)));
  process.texts = texts;
  return process;
}

inline std::unique_ptr<Store> open_store(const std::string &path, const Keep &keep = {}) {
  auto store = Store::open(path, keep);
  EXPECT_TRUE(store.has_value()) << store.error().error.line();
  return store ? std::move(*store) : nullptr;
}

inline void append(Store &store, std::span<const TimedSample> samples) {
  const auto done = store.append(samples);
  ASSERT_TRUE(done.has_value()) << done.error().error.line();
}

inline void append(Store &store, const Snapshot &snapshot, double seconds = 1) {
  const TimedSample one{std::make_shared<const Snapshot>(snapshot), seconds};
  append(store, {&one, 1});
}

}  // namespace gpulse::history::testing

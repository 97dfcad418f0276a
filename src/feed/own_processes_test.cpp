// SPDX-License-Identifier: Apache-2.0
#include "feed/own_processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::feed {
namespace {

using ::testing::ElementsAre;

Device device(std::uint32_t index, const std::string &uuid) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = uuid;
  return {.id = {index}, .identity = std::move(identity)};
}

Process process(std::uint32_t pid, std::uint32_t device, double bytes) {
  Process process;
  process.pid = pid;
  process.device = {device};
  process.row[process_metric("gpu_memory_bytes")] = bytes;
  return process;
}

std::vector<std::tuple<std::uint32_t, std::uint32_t, double>> listed(const Snapshot &snapshot) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, double>> all;
  for (const auto &each : snapshot.processes)
    all.emplace_back(each.device.index, each.pid, each.row[process_metric("gpu_memory_bytes")].value_or(-1));
  return all;
}

// A machine with a card of NVIDIA's, whose driver tells everybody, and one of AMD's: ours counts the second one alone.
TEST(MergeProcesses, TheOwnOnesComeToTheDevicesOfTheirUuid) {
  Snapshot agents;
  agents.devices = {device(0, "GPU-a"), device(1, "amd-b")};
  agents.processes = {process(70, 0, 1000)};
  Snapshot own;
  own.devices = {device(0, "amd-b")};
  own.processes = {process(90, 0, 300), process(80, 0, 200)};
  merge_processes(agents, own);
  EXPECT_THAT(listed(agents),
              ElementsAre(std::tuple(0, 70, 1000.0), std::tuple(1, 80, 200.0), std::tuple(1, 90, 300.0)));
}

TEST(MergeProcesses, OneThatTheAgentKnowsTooIsAsWeSeeIt) {
  Snapshot agents;
  agents.devices = {device(0, "amd-b")};
  agents.processes = {process(80, 0, 100)};
  Snapshot own;
  own.devices = {device(0, "amd-b")};
  own.processes = {process(80, 0, 200)};
  merge_processes(agents, own);
  EXPECT_THAT(listed(agents), ElementsAre(std::tuple(0, 80, 200.0)));
}

TEST(MergeProcesses, AForeignOneOfTheSameNumberIsAnother) {
  Snapshot agents;
  agents.devices = {device(0, "amd-b")};
  agents.processes = {process(80, 0, 100)};
  agents.processes[0].foreign = true;
  Snapshot own;
  own.devices = {device(0, "amd-b"), device(1, "amd-gone")};
  own.processes = {process(80, 0, 200), process(81, 1, 5)};
  merge_processes(agents, own);
  EXPECT_THAT(listed(agents), ElementsAre(std::tuple(0, 80, 100.0), std::tuple(0, 80, 200.0)));
}

}  // namespace
}  // namespace gpulse::feed

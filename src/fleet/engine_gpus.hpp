// SPDX-License-Identifier: Apache-2.0
// Which GPUs an engine knows, from the series that say what each is. Any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fleet/engine.hpp"
#include "model/snapshot.hpp"

namespace gpulse::fleet {

struct EngineGpu {
  std::string instance{}, cluster{}, uuid{};  // the labels as they came: what its series are found by
  Text host{};                                // the instance as people call it
  Text name{}, vendor{}, pci{};
  std::string parent{};  // the uuid of the GPU that it is an instance of
  std::optional<DeviceId> id{};
};

// "node1" where the agent listens at its usual port; as the label has it.
std::string_view usual_name(std::string_view instance);
Text host_of(std::string_view instance);

// Each once, in the order of their instances and numbers. What has no uuid is left out. `in_each_cluster`: one that was
// in two clusters is there twice.
std::vector<EngineGpu> gpus_of(std::span<const EngineSeries> infos, bool in_each_cluster = false);

// Into that order.
void sort_gpus(std::vector<EngineGpu> &gpus);

EngineResult<std::vector<EngineGpu>> read_gpus(Engine &engine, WallTime from, WallTime to,
                                               const std::stop_token &stop = {});

// Those that `-i` names, on any host; none given: all. Instances come with their GPU. One that fits none is an error.
Result<std::vector<EngineGpu>> choose_gpus(const std::vector<EngineGpu> &gpus,
                                           const std::vector<std::string> &selectors);

}  // namespace gpulse::fleet

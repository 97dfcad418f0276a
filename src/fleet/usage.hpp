// SPDX-License-Identifier: Apache-2.0
// What GPUs were used for, of all hosts whose agents an engine hears from. Asks the engine as much at a time as it and
// this program can take, and less where it says that this was too much. Any thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fleet/engine.hpp"
#include "fleet/engine_gpus.hpp"
#include "insight/usage.hpp"

namespace gpulse::fleet {

struct UsageQuestion {
  WallTime from{}, to{};
  WallTime now = wall_now();
  std::vector<EngineGpu> gpus{};  // of read_gpus()
  bool is_part = false;           // some were left out
};

// `progress`: called with 0 to 1. Where the time is too short, or the engine has nothing of it, no time is recorded.
EngineResult<insight::Usage> read_usage(Engine &engine, const UsageQuestion &question,
                                        const std::function<void(double)> &progress = {},
                                        const std::stop_token &stop = {});

}  // namespace gpulse::fleet

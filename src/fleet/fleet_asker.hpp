// SPDX-License-Identifier: Apache-2.0
// Asks an engine for a fleet, as often as it is told to. Where one question fails its last answer stands in for it, and
// the others go on. One thread.
#pragma once

#include <memory>
#include <optional>

#include "fleet/engine.hpp"
#include "fleet/fleet_snapshot.hpp"

namespace gpulse::fleet {

using FleetPtr = std::shared_ptr<const FleetSnapshot>;

class FleetAsker {
 public:
  explicit FleetAsker(EngineOptions options);
  FleetAsker(const FleetAsker &) = delete;
  FleetAsker &operator=(const FleetAsker &) = delete;
  ~FleetAsker();

  // As it is at that moment. An error: nothing can be said of it; a fleet without GPUs is none.
  EngineResult<FleetPtr> ask(WallTime at, const std::stop_token &stop = {});

  Text place() const;

 private:
  class Questions;
  std::unique_ptr<Questions> questions_;
};

}  // namespace gpulse::fleet

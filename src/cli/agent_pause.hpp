// SPDX-License-Identifier: Apache-2.0
// Keeps the agent off the drivers for a change that a monitor stands in the way of.
#pragma once

#include <vector>

#include "share/connection.hpp"

namespace gpulse::cli {

class AgentPause {
 public:
  // Asks the agent to let go of the drivers where that is needed, and waits until it has. Without an agent, or the
  // right to ask it, nothing happens: what stands in the way then is told by the driver.
  explicit AgentPause(bool needed);
  AgentPause(const AgentPause &) = delete;
  AgentPause &operator=(const AgentPause &) = delete;
  // It takes them up again.
  ~AgentPause();

 private:
  std::vector<share::Connection> agents_;
};

}  // namespace gpulse::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/agent_pause.hpp"

namespace gpulse::cli {

namespace {

// Should this program be killed meanwhile.
constexpr auto kLongest = std::chrono::minutes(2);

}  // namespace

AgentPause::AgentPause(bool needed) {
  if (!needed) return;
  for (const auto &place : share::places_to_look()) {
    auto agent = share::Connection::open(place);
    if (agent && agent->release(kLongest)) agents_.push_back(std::move(*agent));
  }
}

AgentPause::~AgentPause() {
  for (auto &agent : agents_) static_cast<void>(agent.resume());
}

}  // namespace gpulse::cli

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
    if (!agent) continue;
    // Whoever has made it let go for longer than this wants it to stay so.
    const auto status = agent->status();
    if (status && status->released_for >= kLongest) continue;
    // Also one that could not, and tries: it is not to stay so for the whole time.
    static_cast<void>(agent->release(kLongest));
    agents_.push_back(std::move(*agent));
  }
}

AgentPause::~AgentPause() {
  for (auto &agent : agents_) static_cast<void>(agent.resume());
}

}  // namespace gpulse::cli

// SPDX-License-Identifier: Apache-2.0
// How the agent itself is doing, for those who show it: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace gpulse::view {

struct CallTotal {
  std::string source, call;
  std::uint64_t calls = 0;
  std::chrono::nanoseconds time{0};
};

// How the agent is doing.
struct AgentNumbers {
  std::string version;
  bool released = false;  // it has let go of the drivers because somebody has asked it to
  std::vector<CallTotal> calls{};
  struct History {
    std::uint64_t kept = 0, lost = 0, waiting = 0;  // samples
  };
  std::optional<History> history{};  // none: nothing is kept
  struct RemoteWrite {
    std::string url, problem;              // what goes wrong at the moment; empty: nothing does
    std::uint64_t taken = 0, refused = 0;  // samples
    std::uint64_t failures = 0;            // requests that have to be made again
    WallTime up_to{};                      // the engine has everything
  };
  std::optional<RemoteWrite> remote_write{};  // none: nothing is written to an engine
  struct Alerts {
    struct Receiver {
      std::string name;
      std::uint64_t sent = 0, given_up = 0, waiting = 0;  // messages
      std::uint64_t failed = 0;                           // tries
    };
    std::uint64_t firing = 0;
    std::vector<Receiver> receivers{};
  };
  std::optional<Alerts> alerts{};  // none: the agent sends none
};

}  // namespace gpulse::view

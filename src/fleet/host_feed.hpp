// SPDX-License-Identifier: Apache-2.0
// A host that an engine knows, in place of this machine: what shows this machine shows it too.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "feed/feed.hpp"
#include "feed/timeline.hpp"
#include "fleet/host_asker.hpp"

namespace gpulse::fleet {

struct HostFeedOptions {
  EngineOptions engine{};
  HostPlace host{};
  std::chrono::nanoseconds interval = std::chrono::seconds(15);
  // Whoever follows gets its samples of so long first.
  std::chrono::seconds before{std::chrono::minutes(30)};
  std::optional<WallTime> last{};              // its newest sample, of a host that is silent
  std::shared_ptr<feed::Patience> patience{};  // of who looks at the past; none: until there is an answer
};

// Live: asks the engine at each interval. Where it does not answer, no sample comes and warning() says why.
std::unique_ptr<feed::Feed> open_host(HostFeedOptions options);

// Its samples of a span by number, read in pieces when they are asked for.
Result<std::unique_ptr<feed::Timeline>> open_host_past(const HostFeedOptions &options, WallTime first, WallTime last);
// The same to be played like a recording. A span without a sample is an error.
Result<std::unique_ptr<feed::Feed>> replay_host(const HostFeedOptions &options, WallTime first, WallTime last);

}  // namespace gpulse::fleet

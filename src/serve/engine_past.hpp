// SPDX-License-Identifier: Apache-2.0
// What was of a host, out of a metrics engine. Any thread.
#pragma once

#include <memory>

#include "fleet/host_asker.hpp"
#include "serve/board.hpp"
#include "serve/past_source.hpp"
#include "serve/shared_asks.hpp"
#include "serve/timer.hpp"

namespace gpulse::serve {

struct EnginePastOptions {
  fleet::EngineOptions engine{};
  fleet::HostPlace host{};
  std::chrono::seconds least_step{15};                          // the engine knows nothing finer
  std::chrono::nanoseconds patience = std::chrono::seconds(3);  // until a client is told to ask again
  std::chrono::nanoseconds whole = std::chrono::seconds(30);    // for all questions of one answer together
};

// Of the board the devices; all three outlive what is made.
std::unique_ptr<PastSource> engine_past(EnginePastOptions options, const Board &board, SharedAsks<http::Response> &asks,
                                        Timer &timer);

}  // namespace gpulse::serve

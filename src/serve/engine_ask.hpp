// SPDX-License-Identifier: Apache-2.0
// A question to an engine on behalf of somebody who waits. Any thread.
#pragma once

#include <chrono>
#include <string>

#include "base/text.hpp"
#include "http/message.hpp"
#include "serve/shared_asks.hpp"
#include "serve/timer.hpp"

namespace gpulse::serve {

struct EngineAsk {
  Text place{};                                                 // the engine, as people know it
  std::chrono::nanoseconds patience = std::chrono::seconds(3);  // until a client is told to ask again
  std::chrono::nanoseconds whole = std::chrono::seconds(30);    // for all questions of one answer together
};

// Who asks again with the same key gets what was asked for meanwhile. All but `how` outlive the answer.
void ask_engine(SharedAsks<http::Response> &asks, Timer &timer, const EngineAsk &how, const std::string &key,
                SharedAsks<http::Response>::Work work, const http::Answer &answer);

// Which span it is, for a key. One that goes on to now has the same for as long as an answer may take, so that who asks
// again while the engine is still at it asks the same, though the end has moved on.
std::string span_key(WallTime from, WallTime to, const EngineAsk &how);

// What has just been may still come in.
bool is_closed(WallTime to);

}  // namespace gpulse::serve

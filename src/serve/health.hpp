// SPDX-License-Identifier: Apache-2.0
// Whether the agent does its work, for whoever watches over it: a word, and nothing about the machine. Any thread.
#pragma once

#include "http/message.hpp"
#include "serve/board.hpp"

namespace gpulse::serve {

// 200 "ok", or 503 and what does not work.
http::Response health_answer(const Board &board, Monotonic now = monotonic_now());

}  // namespace gpulse::serve

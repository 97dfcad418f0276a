// SPDX-License-Identifier: Apache-2.0
// The event panel: driver errors, throttling, devices lost, asleep and back, processes that came and went.
#pragma once

#include "tui/draw_context.hpp"
#include "tui/event_log.hpp"

namespace gpulse::tui {

// "14:03:20 GPU 3 XID 79: …  4 times"
std::vector<term::Span> event_spans(const LoggedEvent &logged, const Snapshot &snapshot, const Look &look);

// The newest at the top.
void draw_events(const term::Area &area, const DrawContext &context, const EventLog &log);

}  // namespace gpulse::tui

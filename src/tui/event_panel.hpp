// SPDX-License-Identifier: Apache-2.0
// What happened: driver errors, throttling, devices lost, asleep and back, processes that came and went.
#pragma once

#include <deque>

#include "tui/scene.hpp"

namespace gpulse::tui {

struct Logged {
  Event event;
  int times = 1;  // within a minute of each other
};

// The newest last; at most kMostEvents. What comes again and again stands there once.
using EventLog = std::deque<Logged>;
inline constexpr std::size_t kMostEvents = 1000;

// What happened between the two is added.
void note_events(EventLog &log, const Snapshot *before, const Snapshot &now);

// The newest at the top.
void draw_events(const term::Area &area, const Scene &scene, const EventLog &log);

}  // namespace gpulse::tui

// SPDX-License-Identifier: Apache-2.0
// What happened while the live view was running, for its event panel. Pure values.
#pragma once

#include <deque>
#include <string_view>

#include "model/snapshot.hpp"

namespace gpulse::tui {

struct LoggedEvent {
  Event event;
  int times = 1;  // within a minute of each other
};

// The newest last, at most kMostEvents. An event that repeats is kept once.
using EventLog = std::deque<LoggedEvent>;
inline constexpr std::size_t kMostEvents = 1000;

// Adds what happened between the two snapshots; without `before`, the events of `now` and what was already so,
// `since` some time.
void note_events(EventLog &log, const Snapshot *before, const Snapshot &now,
                 std::string_view since = "since before gpulse started");

}  // namespace gpulse::tui

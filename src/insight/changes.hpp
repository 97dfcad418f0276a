// SPDX-License-Identifier: Apache-2.0
// What changed between two snapshots of one machine, also where no driver reports it as an event. Pure.
#pragma once

#include <vector>

#include "model/snapshot.hpp"

namespace gpulse::insight {

// The events that only the later snapshot has, and: throttling begins (by a reason that is a fault) or ends; a device
// falls asleep or wakes; a process comes or goes (text: its pid, name and user). In the order in which a person would
// tell them; times are the later snapshot's. Lost and back are among the snapshot's own events, from the sampler.
std::vector<Event> changes(const Snapshot &before, const Snapshot &now);

// What was already so when somebody began to look: devices that are held back (by more than their power limit), lost
// or not responding. `since` is said of each: "since before gpulse started".
std::vector<Event> already_so(const Snapshot &first, std::string_view since);

}  // namespace gpulse::insight

// SPDX-License-Identifier: Apache-2.0
// What happened between two snapshots of one machine that no driver reports as an event. Pure.
#pragma once

#include "model/snapshot.hpp"

namespace gpulse {

// What the later snapshot has among its events that the earlier had not, and: "throttle" when a device begins to be
// held back by a reason that is no calm one, "throttle ended"; "asleep", "awake"; "process" came or went (text: its
// pid, name and user; code: the pid). In the order in which a person would tell them; times are the later snapshot's.
// Lost and back come from the sampler, among the snapshot's own events.
std::vector<Event> happenings(const Snapshot &before, const Snapshot &now);

// The words in which an event deserves to be seen: how bad it is.
enum class Weight : std::uint8_t { plain, warn, bad };
Weight weight(const Event &event);

}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// What the views show of an event, whichever view it is. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "term/style.hpp"

namespace gpulse::view {

// "GPU 3"; its identifier for a device that is not in the snapshot, empty for an event of the whole machine.
std::string event_place(const Snapshot &snapshot, const Event &event);

// What happened, in words: "XID 79: the device has fallen off the bus", "slowed down: hw thermal". Not clean.
std::string event_words(const Event &event);
// How much it deserves to be seen: heat does, a busy board at its power limit does not.
term::Colour event_colour(const Event &event);
// What it means and what to do about it, a paragraph each; none where the words say it all.
std::vector<std::string> event_advice(const Event &event);

}  // namespace gpulse::view

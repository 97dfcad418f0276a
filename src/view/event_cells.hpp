// SPDX-License-Identifier: Apache-2.0
// What the views show of an event, whichever view it is. Pure.
#pragma once

#include <string>

#include "model/snapshot.hpp"

namespace gpulse::view {

// "GPU 3"; its identifier for a device that is not in the snapshot, empty for an event of the whole machine.
std::string event_place(const Snapshot &snapshot, const Event &event);

}  // namespace gpulse::view

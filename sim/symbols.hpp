// SPDX-License-Identifier: Apache-2.0
// Makes exported functions invisible to dlsym, as they are in a driver that does not have them yet.
#pragma once

#include <array>

#include "functions.hpp"

namespace gpulse::sim {

// Hides those set and shows all others. Callers hold the simulator's lock.
void hide_symbols(const std::array<bool, kFnCount> &hidden);

}  // namespace gpulse::sim

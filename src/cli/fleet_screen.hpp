// SPDX-License-Identifier: Apache-2.0
// `gpulse fleet --watch` on a terminal: the overview, walked through with keys, and its hosts in depth.
#pragma once

#include "cli/options.hpp"
#include "fleet/engine.hpp"
#include "fleet/fleet_groups.hpp"

namespace gpulse::cli {

// Whether there is a terminal for it.
bool has_fleet_screen(const Options &options);

int run_fleet_screen(const Options &options, const fleet::EngineOptions &engine, fleet::FleetQuestion question);

}  // namespace gpulse::cli

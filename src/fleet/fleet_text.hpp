// SPDX-License-Identifier: Apache-2.0
// The overview of a fleet: for a terminal, as comma-separated values and as JSON ("gpulse.fleet/1"). Pure functions.
#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"
#include "fleet/fleet_groups.hpp"
#include "term/style.hpp"

namespace gpulse::fleet {

struct FleetTextOptions {
  term::Style style{};
  std::size_t top = 20;  // groups at most
  int height = 0;        // lines at most; 0: any number
  Text trouble{};        // why there is nothing newer; empty: there is
};

// Lines, each ended by a newline, none wider than the style.
std::string render_fleet(const FleetSnapshot &fleet, const FleetView &view, const FleetTextOptions &options);
// A line for each group, under a line of titles if that is wanted.
std::string fleet_csv(const FleetSnapshot &fleet, const FleetView &view, bool has_titles);
// One line.
std::string fleet_json(const FleetSnapshot &fleet, const FleetView &view, const Text &trouble = {});

}  // namespace gpulse::fleet

// SPDX-License-Identifier: Apache-2.0
// The overview of a fleet: for a terminal, as comma-separated values and as JSON ("gpulse.fleet/1"). Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "fleet/fleet_groups.hpp"
#include "term/style.hpp"

namespace gpulse::fleet {

struct FleetTextOptions {
  term::Style style{};
  std::size_t top = 20;  // groups at most
  int height = 0;        // lines at most; 0: any number
  Text trouble{};        // why there is nothing newer; empty: there is
  // Of somebody who walks through the groups
  std::optional<std::size_t> selected{};
  std::size_t first = 0;  // on the screen; moves with the one that is selected
  bool is_past = false;   // the time is one of the past
};

struct FleetLines {
  std::vector<std::string> lines{};   // none wider than the style
  std::size_t first = 0, groups = 0;  // which groups are among them
};
FleetLines fleet_lines(const FleetSnapshot &fleet, const FleetView &view, const FleetTextOptions &options);

// The same, each ended by a newline.
std::string render_fleet(const FleetSnapshot &fleet, const FleetView &view, const FleetTextOptions &options);
// A line for each group, under a line of titles if that is wanted.
std::string fleet_csv(const FleetSnapshot &fleet, const FleetView &view, bool has_titles);
// One line.
std::string fleet_json(const FleetSnapshot &fleet, const FleetView &view, const Text &trouble = {});

}  // namespace gpulse::fleet

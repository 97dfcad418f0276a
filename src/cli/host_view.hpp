// SPDX-License-Identifier: Apache-2.0
// The live view of a host that an engine knows: `gpulse top --host NAME`, and a line of `gpulse fleet --watch` in
// depth.
#pragma once

#include <chrono>

#include "cli/options.hpp"
#include "cli/top_screen.hpp"
#include "fleet/engine.hpp"
#include "fleet/fleet_snapshot.hpp"

namespace gpulse::cli {

// Of `gpulse top --host`.
int run_top_of_host(const Options &options);

struct HostVisit {
  std::optional<WallTime> at{};  // as it was then and before that; none: live
  bool goes_back = false;        // there is something to go back to
};
// Until the user leaves.
Result<void> show_host(const Options &options, const TopLook &look, const fleet::EngineOptions &engine,
                       const fleet::FleetHost &host, const HostVisit &visit = {});

}  // namespace gpulse::cli

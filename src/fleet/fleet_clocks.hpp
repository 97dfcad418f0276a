// SPDX-License-Identifier: Apache-2.0
// Whether the clocks of hosts are right. A scraper has one of its own, and by a host's that is wrong nobody can tell
// how old its sample is. Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "fleet/fleet_keys.hpp"

namespace gpulse::fleet {

class FleetClocks {
 public:
  explicit FleetClocks(const FleetParts &parts);

  // When the sample came by the scraper's clock, where the host's is off by more than the limit. One that is slow has
  // to go on all the same: else the scraper goes on with an old sample. None: the host's is right, or nobody knows
  // better.
  std::optional<WallTime> corrected(const std::string &host_key, WallTime own, Seconds limit) const;

 private:
  std::map<std::string, WallTime> told_at_;  // when the engine had the newest of a host
  std::set<std::string> going_;              // hosts with new ones lately
};

// Whether a host's clock is so slow that FleetPart::going decides whether it is silent.
bool has_slow_clock(const FleetParts &parts);

// "2 h slow", "40 min fast"
std::string off_words(Seconds ahead);

}  // namespace gpulse::fleet

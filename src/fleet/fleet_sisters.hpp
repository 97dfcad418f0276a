// SPDX-License-Identifier: Apache-2.0
// Compares each GPU with its sisters: with those of its job, where that is on several hosts, and with those of its
// model in its cluster. Medians, and spreads that a few odd ones do not move. What is not known takes no part; neither
// do GPUs that are not well, and those that are parted into instances. Pure; any thread.
#pragma once

#include "fleet/fleet_snapshot.hpp"

namespace gpulse::fleet {

struct SisterLimits {
  // Load and how many
  double busy_percent = 85;    // from here on a GPU hardly waits, and has the clocks that it can have
  double used_percent = 10;    // from here on its link is awake
  std::size_t sisters = 5;     // others of the model, at least
  std::size_t job_others = 3;  // others of the job, at least
  double spreads = 5;          // so many times the usual spread is apart, even among ten thousand
  double few_share = 0.25;     // what more of them have is no oddity but how it is meant
  // What matters
  double clock_share = 0.1, far_clock_share = 0.25;  // below the others
  double more_power_share = 0.05;                    // above the others explains a lower clock
  double at_power_limit = 0.98;                      // of it, where the others are below, explains one that is not far
  double hotter_celsius = 10, far_celsius = 20;
  double limit_share = 0.1, far_limit_share = 0.3;  // below the others
  double far_link_share = 0.25;                     // of their speed
  double job_far_percent = 40;                      // apart from the job, for a lone one
};

void add_remarks(FleetSnapshot &fleet, const SisterLimits &limits = {});

}  // namespace gpulse::fleet

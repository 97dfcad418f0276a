// SPDX-License-Identifier: Apache-2.0
// The formats of gpulse rules that are about a list of machines.
#pragma once

#include "cli/options.hpp"

namespace gpulse::cli {

bool asks_for_targets(const Options &options);
int run_scrape_config(const Options &options);

}  // namespace gpulse::cli

// SPDX-License-Identifier: Apache-2.0
// The options of `gpulse fleet`.
#pragma once

#include "cli/command_line.hpp"
#include "cli/options.hpp"

namespace gpulse::cli {

void add_fleet(OptionList &list, Options &options);

}  // namespace gpulse::cli

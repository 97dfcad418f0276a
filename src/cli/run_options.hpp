// SPDX-License-Identifier: Apache-2.0
// What the command line of `gpulse run` says of its report. Main thread.
#pragma once

#include "cli/command_line.hpp"
#include "cli/options.hpp"

namespace gpulse::cli {

void add_report(OptionList &list, Options &options);
// What a kWh costs.
void add_price(OptionList &list, Options &options);

}  // namespace gpulse::cli

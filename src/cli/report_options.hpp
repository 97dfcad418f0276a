// SPDX-License-Identifier: Apache-2.0
// The options of `gpulse report`.
#pragma once

#include "cli/command_line.hpp"
#include "cli/options.hpp"

namespace gpulse::cli {

void add_usage_report(OptionList &list, Options &options);

}  // namespace gpulse::cli

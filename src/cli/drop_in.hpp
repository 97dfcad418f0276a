// SPDX-License-Identifier: Apache-2.0
// What the commands share that speak another program's command line: gpulse's own options among that program's.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"

namespace gpulse::cli {

// Takes --source, --sysroot, --replay, --columns, --demo, --wake and --no-agent out of the arguments, and gives the
// rest:
// "--sysroot DIR" or
// "--sysroot=DIR", always in full.
Result<std::vector<std::string_view>> take_own_options(std::span<char *> arguments, Options &options);

}  // namespace gpulse::cli

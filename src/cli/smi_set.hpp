// SPDX-License-Identifier: Apache-2.0
// The options of `gpulse smi` that change a setting.
#pragma once

#include "cli/options.hpp"
#include "cli/smi_arguments.hpp"

namespace gpulse::cli {

int run_smi_setting(const SmiCommand &command, const Options &options);

}  // namespace gpulse::cli

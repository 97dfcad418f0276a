// SPDX-License-Identifier: Apache-2.0
// The options of `gpulse smi` that change a setting, in nvidia-smi's words.
#pragma once

#include "cli/options.hpp"
#include "cli/smi_arguments.hpp"
#include "source/api/setting.hpp"

namespace gpulse::cli {

// {"-pl", "300"}, {"-lgc", "1200,1980"}, {"-rgc", ""}; or what the original says to a value that is none.
SmiResult<Setting> parse_smi_setting(const SmiSetting &option);

int run_smi_setting(const SmiCommand &command, const Options &options);

}  // namespace gpulse::cli

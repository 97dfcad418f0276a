// SPDX-License-Identifier: Apache-2.0
// How an engine that answers PromQL is reached: the same options for every command that asks one.
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "cli/options.hpp"
#include "fleet/engine.hpp"

namespace gpulse::cli {

// The one that names it.
OptionHandle add_engine(OptionList &list, Options &options);

// What goes with that.
void add_engine_rights(OptionList &list, Options &options, const OptionHandle &address);

// An error is wrong usage.
Result<fleet::EngineOptions> engine_options(const Options &options);

}  // namespace gpulse::cli

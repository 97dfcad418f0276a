// SPDX-License-Identifier: Apache-2.0
// How an engine that answers PromQL is reached: the same options for every command that asks one.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "cli/options.hpp"
#include "fleet/engine.hpp"

namespace gpulse::cli {

// The one that names it.
OptionHandle add_engine(OptionList &list, Options &options);

// What goes with that.
void add_engine_rights(OptionList &list, Options &options, const OptionHandle &address);

// What is given with the name, as "--name VALUE" or "--name=VALUE".
bool is_given(const Options &options, std::string_view name);
// The first word that begins like one of these, without its value.
std::optional<std::string> given_of(const Options &options, std::span<const std::string_view> beginnings);

// For a command that is not `gpulse fleet`: the command line goes before [fleet] of the configuration.
Options with_configured_engine(Options options);

// An error is wrong usage.
Result<fleet::EngineOptions> engine_options(const Options &options);

// Of an engine that answers, and has nothing to show.
Error no_gpus_known(const Text &place, bool is_past = false);

}  // namespace gpulse::cli

// SPDX-License-Identifier: Apache-2.0
// gpulse as it is called: which command the arguments mean, and the commands that speak of all commands.
#pragma once

#include <span>

#include "cli/options.hpp"

namespace gpulse::cli {

// The arguments begin with the name that the program was called by. Returns the exit code.
int run_program(std::span<char *> arguments);

int run_help(const Options &options);
int run_completion(const Options &options);
int run_version(const Options &options);

}  // namespace gpulse::cli

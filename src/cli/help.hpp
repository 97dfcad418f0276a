// SPDX-License-Identifier: Apache-2.0
// What gpulse prints about its own command line, besides CLI11's help.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/description.hpp"
#include "cli/options.hpp"

namespace gpulse::cli {

// The command that help is asked about; the program itself where none is named.
Result<const CommandWords *> find_command(const ProgramWords &program, const Options &options);
int print_manual(const ProgramWords &program, const CommandWords &command, const std::string &version);
// Every manual page and completion script, for those who make packages.
int write_pages(const ProgramWords &program, const Options &options, const std::string &version);
int print_completion(const ProgramWords &program, const Options &options);

}  // namespace gpulse::cli

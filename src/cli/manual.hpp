// SPDX-License-Identifier: Apache-2.0
// Manual pages, in the language of man(7).
#pragma once

#include <string>

#include "cli/description.hpp"

namespace gpulse::cli {

// gpulse(1), or gpulse-NAME(1) of a command.
std::string manual_page(const ProgramWords &program, const CommandWords &command, const std::string &version);

}  // namespace gpulse::cli

// SPDX-License-Identifier: Apache-2.0
// Completion scripts for shells.
#pragma once

#include <string>
#include <string_view>

#include "cli/description.hpp"

namespace gpulse::cli {

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

// `shell`: one of the above.
std::string completion_script(const ProgramWords &program, std::string_view shell);

}  // namespace gpulse::cli

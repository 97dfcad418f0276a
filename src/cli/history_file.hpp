// SPDX-License-Identifier: Apache-2.0
// Where the agent keeps what was, and where others look for it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "share/place.hpp"

namespace gpulse::cli {

// Of an agent in this place; empty where there is no home to keep it in.
std::string history_to_write(const share::Place &place);
// The one that `wanted` names, else that of the agent, else of the one that ran last.
Result<std::string> history_to_read(const std::string &wanted);

}  // namespace gpulse::cli

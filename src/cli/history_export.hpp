// SPDX-License-Identifier: Apache-2.0
// A part of a history as a recording, which every command plays.
#pragma once

#include <stop_token>
#include <vector>

#include "cli/options.hpp"
#include "history/reader.hpp"

namespace gpulse::cli {

// From here on signals ask for a stop. To be called before any other thread is started.
std::stop_token stop_of_export();
// Only these devices, by UUID; none: all. Returns the exit code.
int export_history(history::Reader &reader, const history::Span &span, const std::vector<Text> &devices,
                   const Options &options, const std::stop_token &stop);

}  // namespace gpulse::cli

// SPDX-License-Identifier: Apache-2.0
// The stretch of time that --since, --from and --to mean.
#pragma once

#include <chrono>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "cli/options.hpp"
#include "history/reader.hpp"

namespace gpulse::cli {

// `usual`: how far back where nothing is said. An error is wrong usage.
Result<history::Span> span_of(const Options &options, WallTime now, std::chrono::nanoseconds usual);

}  // namespace gpulse::cli

// SPDX-License-Identifier: Apache-2.0
// What a usage report is made of: the history of this machine, or an engine that hears from many.
#pragma once

#include <expected>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "history/reader.hpp"
#include "insight/usage.hpp"

namespace gpulse::cli {

struct NoUsage {
  Error error;
  int code = kFailure;
};

// Says on the standard error what it is doing where that takes longer than two seconds.
std::expected<insight::Usage, NoUsage> read_usage(const Options &options, const history::Span &span);

}  // namespace gpulse::cli

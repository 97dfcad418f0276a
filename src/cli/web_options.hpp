// SPDX-License-Identifier: Apache-2.0
// What the command line and [web] of the configuration say about HTTP, put together for `gpulse serve`.
#pragma once

#include <expected>
#include <optional>

#include "cli/options.hpp"
#include "serve/web.hpp"

namespace gpulse::cli {

struct Refused {
  Error error;
  int code = kFailure;
};

// None: nothing is to be answered over HTTP.
std::expected<std::optional<serve::WebOptions>, Refused> web_options(const Options &options);

}  // namespace gpulse::cli

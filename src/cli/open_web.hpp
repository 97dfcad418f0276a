// SPDX-License-Identifier: Apache-2.0
// A site over HTTP as the command line and the configuration want it.
#pragma once

#include <memory>
#include <optional>

#include "cli/options.hpp"
#include "serve/web.hpp"

namespace gpulse::cli {

// Null: nothing is answered over HTTP.
Result<std::unique_ptr<serve::Web>> open_web(std::optional<serve::WebOptions> options,
                                             const serve::Web::MakeSite &make_site, bool shows_page);

// What cannot be changed while it runs stays as it is.
Result<void> reload_web(const Options &options, serve::Web &web);

}  // namespace gpulse::cli

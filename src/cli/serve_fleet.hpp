// SPDX-License-Identifier: Apache-2.0
// gpulse serve --fleet: the page and the API of all hosts that a metrics engine knows.
#pragma once

#include "cli/options.hpp"

namespace gpulse::cli {

int run_serve_fleet(const Options &options);

}  // namespace gpulse::cli

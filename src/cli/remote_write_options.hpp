// SPDX-License-Identifier: Apache-2.0
// What the command line and the configuration say about remote write.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "fleet/remote_writer.hpp"

namespace gpulse::cli {

// None: nothing is written to an engine. `history`: the file; empty: there is none, which is an error with remote
// write.
Result<std::optional<fleet::RemoteWriteOptions>> remote_write_options(const Options &options,
                                                                      const std::string &history);

}  // namespace gpulse::cli

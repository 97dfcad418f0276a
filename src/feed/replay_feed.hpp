// SPDX-License-Identifier: Apache-2.0
// A recording, a trace or a log of nvidia-smi in place of this machine.
#pragma once

#include <memory>

#include "feed/feed.hpp"

namespace gpulse::feed {

// The file or the demo that the options name.
Result<std::unique_ptr<Feed>> open_replay(const Options &options, const std::stop_token &stop);

}  // namespace gpulse::feed

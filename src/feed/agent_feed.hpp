// SPDX-License-Identifier: Apache-2.0
// The samples of the machine's agent, taken from shared memory: no driver is called. Where there is no agent, or it
// cannot give what is asked for, this program reads by itself, and says why.
#pragma once

#include "feed/feed.hpp"

namespace gpulse::feed {

Result<std::unique_ptr<Feed>> open_agent(const Options &options);

}  // namespace gpulse::feed

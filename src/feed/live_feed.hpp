// SPDX-License-Identifier: Apache-2.0
// This machine, sampled on the thread that drives the feed. The drivers are called on threads of their own.
#pragma once

#include <memory>
#include <vector>

#include "feed/feed.hpp"

namespace gpulse::feed {

Result<std::unique_ptr<Feed>> open_live(Options options);
// Over sources that were made elsewhere.
std::unique_ptr<Feed> make_live(std::vector<std::shared_ptr<Source>> sources, const Sysroot &root,
                                const Options &options, const RunnerOptions &deadlines = {});

}  // namespace gpulse::feed

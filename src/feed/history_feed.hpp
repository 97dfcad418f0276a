// SPDX-License-Identifier: Apache-2.0
// A history in place of this machine, or as the past of what is seen live. feed::open() knows nothing of it, so that
// the library does not carry a database.
#pragma once

#include <memory>
#include <string>

#include "feed/feed.hpp"
#include "feed/timeline.hpp"
#include "history/reader.hpp"

namespace gpulse::feed {

// The samples of the span by number; a span without any gives an empty timeline.
Result<std::unique_ptr<Timeline>> open_past(const std::string &file, const history::Span &span,
                                            const std::stop_token &stop = {});

// To be played like a recording, with the options of one. A span without a sample is an error.
Result<std::unique_ptr<Feed>> open_history(const std::string &file, const history::Span &span, const Options &options,
                                           const std::stop_token &stop = {});

}  // namespace gpulse::feed

// SPDX-License-Identifier: Apache-2.0
// Compresses a file that nobody writes to any more, with gzip. On any thread; in pieces, so that it can be stopped.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gpulse::sink {

inline constexpr std::string_view kCompressed = ".gz";
// Behind the name of the compressed file while it is not whole.
inline constexpr std::string_view kUnfinished = ".tmp";

// Puts FILE.gz in place of the file. Killed at any point, FILE or FILE.gz is there, and whole; where both are, they
// hold the same. After an error, and when stopped, FILE is there as it was.
Result<void> compress_file(const std::string &file, const std::stop_token &stop = {});

}  // namespace gpulse::sink

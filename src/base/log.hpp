// SPDX-License-Identifier: Apache-2.0
// What a daemon has to say, on the standard error. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpulse {

// The numbers are those of syslog(3), which the journal reads.
enum class LogLevel : std::uint8_t { error = 3, warning, notice, info, debug };

// One printable line in one write, so that lines of several threads do not mix. "gpulse: …" for people; where the
// standard error leads into the journal, which knows the program by itself, "<3>…" with the level instead. What cannot
// be said is no failure of the work: it never throws, and a reader that is gone does not end the program.
void log_line(LogLevel level, std::string_view text) noexcept;

}  // namespace gpulse

// SPDX-License-Identifier: Apache-2.0
// Moments as people write them, and the local time zone that they mean. Any thread; the zone is the environment's (TZ).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/clock.hpp"

namespace gpulse {

// How far local time is ahead of UTC at that moment.
std::chrono::seconds utc_offset(WallTime time);

// The moment at which local clocks show this; `local` counts seconds since 1970 as if they were UTC. Of an hour that
// comes twice the first one; in an hour that is left out as if the clocks had not been changed yet.
WallTime from_local(std::chrono::seconds local);

// "2026-11-16 01:00", "2026-11-16T01:00:00.5+02:00", "yesterday 18:00", "today", "01:00", "-3h", "@1794709878", "now".
// Local time where nothing else is said. A time of the day alone is the last such moment before `now`; where there is
// an `after`, the first one after that. None: it is no moment.
std::optional<WallTime> parse_moment(std::string_view text, WallTime now, std::optional<WallTime> after = std::nullopt);

}  // namespace gpulse

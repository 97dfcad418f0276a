// SPDX-License-Identifier: Apache-2.0
// Labels and numbers out of an engine, made safe: whatever it says. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "metric/table.hpp"

namespace gpulse::fleet {

// A label that people see, of bounded length.
Text short_text(std::string_view text);

// Seconds since 1970; none: not a number, or not one that a clock shows.
std::optional<WallTime> moment_at(double seconds);

// The bit that a word of a set stands for, where an unknown one is called "bit 12"; none: no word of this version.
std::optional<unsigned> bit_of(MetricId id, std::string_view word);

}  // namespace gpulse::fleet

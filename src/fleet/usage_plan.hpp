// SPDX-License-Identifier: Apache-2.0
// How a usage report is asked of an engine: which stretches of time, and in what words. Pure; any thread.
//
// Time is cut into stretches, long enough for several values of each counter, and short enough to tell who a GPU worked
// for. The engine counts in how many moments of a stretch a series was there, so that nothing has to be known of how
// often it gets values, and how much a counter has grown, resets included.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"

namespace gpulse::fleet {

struct UsagePlan {
  // Stretches of the same length, one after the other.
  struct Run {
    WallTime first_end{};
    std::size_t count = 0;
    std::chrono::seconds window{0};

    WallTime end_of(std::size_t stretch) const { return first_end + static_cast<std::int64_t>(stretch) * window; }
  };
  WallTime from{}, to{};               // what they cover
  std::chrono::seconds resolution{0};  // between the moments within a stretch
  std::vector<Run> runs{};             // by time; a shorter stretch may come first
  std::chrono::seconds window{0};      // of most of them
};

// The shortest time that a report can be made of.
inline constexpr std::chrono::minutes kShortestUsage{5};

// `interval`: between two values of a series. None: the time is too short. What is younger than a minute is left out,
// because an engine may not show it yet.
std::optional<UsagePlan> plan_usage(WallTime from, WallTime to, WallTime now, std::size_t gpus, Seconds interval);

// What is asked for. `present`: a GPU, in any state; `held`: by an owner.
enum class UsagePart : std::uint8_t { present, held, active, used, energy, lost, stood };
inline constexpr std::array kUsageParts{UsagePart::present, UsagePart::held, UsagePart::active, UsagePart::used,
                                        UsagePart::energy,  UsagePart::lost, UsagePart::stood};
// Whether its values are moments, or what a counter has grown by.
bool counts_moments(UsagePart part);

// `instances`: only of these; empty: of all.
std::string usage_query(UsagePart part, const std::vector<std::string> &instances, std::chrono::seconds window,
                        std::chrono::seconds resolution);

// The time between two values of the instances' series, of most of them, in the hour before each moment.
std::string interval_query();

}  // namespace gpulse::fleet

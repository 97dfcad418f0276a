// SPDX-License-Identifier: Apache-2.0
// What is asked about a fleet, taken from the address. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "fleet/fleet_groups.hpp"
#include "history/reader.hpp"
#include "serve/api_query.hpp"

namespace gpulse::serve {

inline constexpr std::size_t kMostFilters = 32;
inline constexpr std::size_t kLongestFilter = 300;
inline constexpr std::size_t kLongestFilters = 1500;  // together
inline constexpr std::int64_t kMostCurvePoints = 1000;

struct FleetAsked {
  fleet::FleetQuestion question{};
  std::optional<WallTime> at{};  // none: now
};
Asked<FleetAsked> asked_fleet(const http::Request &request, WallTime now);

struct FleetCurvesAsked {
  fleet::FleetQuestion question{};
  history::Span span{};
  std::size_t points = 0;
};
Asked<FleetCurvesAsked> asked_fleet_curves(const http::Request &request, WallTime now);

// The same text for the same question.
std::string key_of(const fleet::FleetQuestion &question);

}  // namespace gpulse::serve

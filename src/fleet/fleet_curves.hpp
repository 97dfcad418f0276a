// SPDX-License-Identifier: Apache-2.0
// Curves of a fleet, or of the part of it that filters leave: how they are asked of an engine, and their JSON. Filters
// become conditions of the query, so that a user's curve is of what the user held at each moment. Pure; any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "fleet/fleet_groups.hpp"
#include "fleet/query_answer.hpp"

namespace gpulse::fleet {

enum class FleetCurve : std::uint8_t { true_activity, utilization, power, held, gpus };
inline constexpr std::array kFleetCurves{FleetCurve::true_activity, FleetCurve::utilization, FleetCurve::power,
                                         FleetCurve::held, FleetCurve::gpus};

// As a curve is called: the key of the metric that it is the mean or the sum of, or what it counts.
std::string_view name(FleetCurve curve);

// An error: a filter that no query can have.
Result<std::string> curve_query(FleetCurve curve, std::span<const FleetFilter> filters);

// One axis of time for all of them.
struct CurveAxis {
  WallTime first{};
  std::chrono::seconds step{1};
  std::size_t count = 0;

  WallTime last() const { return first + step * static_cast<std::int64_t>(count == 0 ? 0 : count - 1); }
};
// About so many points, none closer together than `least`, at whole multiples of the step.
CurveAxis curve_axis(WallTime from, WallTime to, std::size_t points, std::chrono::seconds least);

// In the units of the metric table; not a number: nothing is known.
std::vector<double> curve_values(FleetCurve curve, const CurveAxis &axis, std::span<const EngineSeries> answer);

std::string fleet_curves_json(const CurveAxis &axis, std::span<const std::vector<double>> curves);

}  // namespace gpulse::fleet

// SPDX-License-Identifier: Apache-2.0
// How what an engine answers about a fleet is found again: by keys that no label can imitate. Pure; any thread.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "fleet/fleet_queries.hpp"
#include "fleet/query_answer.hpp"

namespace gpulse::fleet {

// The answers to the questions; those that are missing are null.
using FleetParts = std::array<const std::vector<EngineSeries> *, kFleetParts>;
std::span<const EngineSeries> part_of(const FleetParts &parts, FleetPart part);

std::string key_of_parts(std::initializer_list<std::string_view> parts);
// What tells hosts apart.
std::string host_key_of(std::string_view instance, std::string_view cluster);
std::string host_key_of(const EngineSeries &series);

// The moment that its newest value tells.
std::optional<WallTime> moment_of(const EngineSeries &series);

}  // namespace gpulse::fleet

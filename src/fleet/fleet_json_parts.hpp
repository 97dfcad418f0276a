// SPDX-License-Identifier: Apache-2.0
// What the formats of a fleet for programs have in common: the same amounts under the same names. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "fleet/fleet_groups.hpp"

namespace gpulse::fleet {

// A number or none.
struct Amount {
  std::string_view name;
  std::optional<double> value;
};
std::vector<Amount> amounts_of(const FleetTotals &totals);

double rounded(double value);
std::string_view word(GroupKind kind);

// As members of the object that has been begun; a text that is empty is null.
void write_text(JsonWriter &json, std::string_view name, std::string_view text);
// `without`: names of amounts that are not wanted.
void write_amounts(JsonWriter &json, const FleetTotals &totals, std::span<const std::string_view> without = {});
void write_faults(JsonWriter &json, const FleetSnapshot &fleet, const Text &trouble);
void write_group_members(JsonWriter &json, const FleetGroup &group, std::span<const std::string_view> without = {});
void write_host_members(JsonWriter &json, const FleetHost &host);
// Whether it is held but idle; null: not known.
void write_idle(JsonWriter &json, const FleetGpu &gpu);
void write_owner_members(JsonWriter &json, const FleetOwner &owner);

}  // namespace gpulse::fleet

// SPDX-License-Identifier: Apache-2.0
// Single values as a terminal shows them: short, in the colour the table's thresholds give, a dash where there is none.
#pragma once

#include <string>
#include <string_view>

#include "model/snapshot.hpp"
#include "term/table.hpp"

namespace gpulse::view {

using gpulse::by_role;

// Empty where there is none; lives as long as the texts.
std::string_view text_by_role(const TextRow *texts, Role role);
std::string_view label_of(Scope scope, Role role);

// "9.8G", "512M", "0": at most five columns.
std::string short_bytes(double bytes);
// "8.4", "310": without the unit.
std::string short_watts(double watts);
// "12/80G": both in the unit of the second; "512M/80G" where the first is less than one of it.
std::string short_share(double part, double whole);
// "0:42", "3:07:55", "12d 4h".
std::string short_duration(double seconds);
// "85%", "1980MHz", "3.1G/s", "64°C", "P0".
std::string short_value(const term::Style &style, const Metric &metric, double value);

// Warn or bad from the table's thresholds, else `otherwise`.
term::Colour threshold_colour(const Metric &metric, double value, term::Colour otherwise = term::Colour::plain);
// How busy something is: grey when it is not, green, strong green when it is full.
term::Colour load_colour(double percent);

term::Cell missing_cell(const term::Style &style);
term::Cell value_cell(const term::Style &style, const Metric &metric, const Reading &reading);
term::Cell role_cell(const term::Style &style, const Row &row, Role role);

// Used of total, 0–1; below 0 where it is not known.
double memory_share(const Device &device);
term::Colour memory_colour(double share);

// The device's name without the vendor's word in front and without ® and ™ signs.
std::string short_name(const DeviceIdentity &identity);

}  // namespace gpulse::view

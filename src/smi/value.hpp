// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi prints, as readings: its XML and its CSV have the same words, units and reasons.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "metric/table.hpp"
#include "model/row.hpp"

namespace gpulse::smi {

// The reason that "N/A", "[Not Supported]", "GPU is lost" or no text at all stands for; none where the text is a value.
std::optional<Reading> reason_in(std::string_view text);

// "143771 MiB" of a quantity of that unit, in our units. Where the text has no unit it is in `unit`, and where that is
// empty too, in the one nvidia-smi leaves out.
Reading read_quantity(Unit kind, std::string_view text, std::string_view unit = {});

// The metric's value, if it can be one: a quantity, one of its words, a set of bits.
Reading read_number(MetricId metric, std::string_view text, std::string_view unit = {}, int base = 10);

TextReading read_text(std::string_view text);

// Safe to print, and not longer than a name can be.
std::string short_text(std::string_view text);

// "Active" or "Yes" against "Not Active" or "No".
std::optional<bool> read_flag(std::string_view text);

// The bit in throttle_reasons of "sw_power_cap" and the like; 0: no such reason.
std::uint64_t event_reason_bit(std::string_view name);

// "Sun Nov 15 02:31:18 2026" or "2026/11/15 02:31:18.730", local time.
std::optional<WallTime> read_time(std::string_view text);

// 00000000:2D:00.0 as 0000:2d:00.0; empty where it is no address.
std::string pci_address(std::string_view text);

}  // namespace gpulse::smi

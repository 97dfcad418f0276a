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

inline constexpr std::string_view kNotAvailable = "N/A";

// CSV puts what is no value into brackets.
std::string_view unbracketed(std::string_view text);

// Letters and digits alone count: "Exclusive_Process" and "exclusive process" are the same word.
bool same_word(std::string_view a, std::string_view b);

// The reason that "N/A", "[Not Supported]", "GPU is lost" or no text at all stands for; none where the text is a value.
std::optional<Reading> reason_in(std::string_view text);

// "143771 MiB" of a quantity of that unit, in our units. Where the text has no unit it is in `unit`, and where that is
// empty too, in the one nvidia-smi leaves out.
std::optional<double> quantity(Unit kind, std::string_view text, std::string_view unit = {});

TextReading read_text(std::string_view text);

// Safe to print, and not longer than a name can be.
std::string short_text(std::string_view text);

// "Active" or "Yes" against "Not Active" or "No".
std::optional<bool> read_flag(std::string_view text);

// "Sun Nov 15 02:31:18 2026" or "2026/11/15 02:31:18.730", local time.
std::optional<WallTime> read_time(std::string_view text);
std::string long_time(WallTime time);
std::string stamp(WallTime time);

// 00000000:2D:00.0 as 0000:2d:00.0; empty where it is no address.
std::string pci_address(std::string_view text);

}  // namespace gpulse::smi

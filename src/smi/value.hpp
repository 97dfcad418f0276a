// SPDX-License-Identifier: Apache-2.0
// Parsing of what XML and CSV of nvidia-smi have in common: words, units, reasons, times.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "metric/table.hpp"
#include "model/row.hpp"

namespace gpulse::smi {

inline constexpr std::string_view kNotAvailable = "N/A";

// On Windows, of the memory of a process. The code, which is none of NVML's, stands for the words.
inline constexpr std::uint16_t kNotInWddm = 0xFFF0;
inline constexpr std::string_view kNotInWddmWords = "Not available in WDDM driver model";

// CSV has brackets around N/A and errors.
std::string_view unbracketed(std::string_view text);

// Compares letters and digits only, in any case: "Exclusive_Process" is the same as "exclusive process".
bool same_word(std::string_view a, std::string_view b);

// The reason meant by "N/A", "[Not Supported]", "GPU is lost" or an empty text; empty for any other text.
std::optional<Reading> reason_in(std::string_view text);

// Converts "143771 MiB" to our unit for that kind. If the text has no unit, it is taken to be in `unit`; if that is
// empty too, in the unit that nvidia-smi omits.
std::optional<double> quantity(Unit kind, std::string_view text, std::string_view unit = {});

TextReading read_text(std::string_view text);

// Without control characters, and of limited length.
std::string short_text(std::string_view text);

// True for "Active", "Yes" and the like, false for "Not Active", "No" and the like.
std::optional<bool> read_flag(std::string_view text);

// "Sun Nov 15 02:31:18 2026" or "2026/11/15 02:31:18.730", local time.
std::optional<WallTime> read_time(std::string_view text);
std::string long_time(WallTime time);
std::string stamp(WallTime time);

// Converts 00000000:2D:00.0 to 0000:2d:00.0; empty if the text is not an address.
std::string pci_address(std::string_view text);

}  // namespace gpulse::smi

// SPDX-License-Identifier: Apache-2.0
// Settings in the words of `gpulse set`: parsing, values as text, the question, the help.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "control/change.hpp"

namespace gpulse::control {

// {"power-limit", "300W"}, {"clocks", "1200-1980"}, {"persistence", "on"}, {"reset"}.
Result<Setting> parse_setting(std::span<const std::string> words);

// A sentence of an Action, filled in.
std::string action_text(const Setting &setting, std::string_view sentence, std::string_view devices = "");

// "GPU 0 (NVIDIA H200)".
std::string device_label(const Device &device);
// "300 W", "on", formatted as the device's metric; "?" for no value.
std::string value_text(const Setting &setting, const Change &change, const Reading &value);
// "300 W", "on", "1200-1980 MHz", "the default".
std::string target_text(const Setting &setting, const Change &change);

// "Set the power limit of GPU 0 (NVIDIA H200) from 700 W to 300 W". `all`: every GPU of the machine, by default.
std::string intention(const Setting &setting, std::span<const Change *const> changes, bool all);

// A line per setting, with the values it takes.
std::string settings_help();

}  // namespace gpulse::control

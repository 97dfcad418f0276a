// SPDX-License-Identifier: Apache-2.0
// Settings in the words of `gpulse set`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/change.hpp"

namespace gpulse::cli {

// {"power-limit", "300W"}, {"clocks", "1200-1980"}, {"persistence", "on"}, {"reset"}.
Result<Setting> parse_setting(std::span<const std::string> words);

// "power limit".
std::string_view setting_name(SettingKind kind);
// "300 W", "on", as the device shows it; "?" where it does not.
std::string value_text(const Setting &setting, const Change &change, const Reading &value);
// "300 W", "on", "1200-1980 MHz", "the default".
std::string target_text(const Setting &setting, const Change &change);

// "Set the power limit of GPU 0 (NVIDIA H200) from 700 W to 300 W"; `all`: nobody said which.
std::string intention(const Setting &setting, std::span<const Change *const> changes, bool all);

// What every setting takes, a line each.
std::string settings_help();

}  // namespace gpulse::cli

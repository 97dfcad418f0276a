// SPDX-License-Identifier: Apache-2.0
// Settings in nvidia-smi's words: its options, and its sentences about what came of them. `gpu` is the device as
// nvidia-smi names it: "00000000:00:06.0".
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "control/change.hpp"

namespace gpulse::control {

// What nvidia-smi says about a bad value; `late`: only when the devices that are meant are there.
struct SmiMistake {
  std::string text;
  bool late = false;
};
// {"-pl", "300"}, {"-lgc", "1200,1980"}, {"-rgc", ""}. `typed` is the option as it was typed: "--power-limit=300".
std::expected<Setting, SmiMistake> parse_smi_setting(std::string_view option, std::string_view value,
                                                     std::string_view typed = "");

// Whether nvidia-smi would call the driver: some settings it sets again even if they have that value.
bool smi_would_set(const Setting &setting, const Change &change);
// Whether nvidia-smi stops at this device and fails, or carries on with the next.
bool smi_stops_at(const Setting &setting, SettingFailure failure);

// `waits_for` is NVML's text for the reason why the change waits, where it does.
std::string smi_done(const Setting &setting, const Change &change, std::string_view gpu,
                     std::string_view waits_for = "");
std::string smi_already(const Setting &setting, const Change &change, std::string_view gpu);
std::string smi_out_of_range(const Setting &setting, const Change &change, std::string_view gpu);
// `why` is NVML's text for the failure.
std::string smi_refused(const Setting &setting, const Change &change, SettingFailure failure, std::string_view gpu,
                        std::string_view why);
// Its last lines, when no device stopped it.
std::string smi_closing(const Setting &setting, bool changed);

// The options in columns, for `gpulse smi -h`.
std::string smi_settings_help();

}  // namespace gpulse::control

// SPDX-License-Identifier: Apache-2.0
// The list of settings. What `gpulse set` and `gpulse smi` accept, check, say and list in their help follows from it. A
// new setting is its SettingKind, its row in rows.cpp, and a line in the settings.cpp of each vendor that can change
// it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "metric/table.hpp"
#include "source/api/setting.hpp"

namespace gpulse::control {

enum class Takes : std::uint8_t {
  mode,
  watts,
  celsius,
  clocks,      // a range
  clock_pair,  // of memory and graphics
  which,       // of several things that the same is done to
  nothing,
};

enum class Effect : std::uint8_t {
  lasting,
  until_unload,  // the driver forgets it when its last user exits, unless persistence mode is on
  after_restart,
};

struct Mode {
  double value;                                    // of the metric that shows it
  std::string_view word;                           // "on", of `gpulse set`; empty: not offered there
  std::string_view smi_word;                       // "ENABLED"
  std::string_view smi_state = "", smi_verb = "";  // "Enabled", "enable": for nvidia-smi's sentences
};

struct SmiOption {
  std::string_view name, full;  // "-pl", "--power-limit"
  bool to_default = false;
};

// What `gpulse set` says about something that is done rather than set. {which} is the word of Takes::which.
struct Action {
  std::string_view intention;     // "Reset {devices}"
  std::string_view done, failed;  // "reset", "not reset"
};

// nvidia-smi's sentences. They may use {gpu}, {why}, {mode}, {state}, {verb}, {low}, {high}, {before}, {after},
// {target}, {minimum} and {maximum}.
struct SmiSentences {
  std::string_view done, refused;
  std::string_view already = "";        // empty: nvidia-smi sets the value again
  std::string_view no_permission = "";  // empty: the same as `refused`
  std::string_view unsupported = "";    // empty: the same as `refused`
  std::string_view invalid = "";        // nvidia-smi then carries on with the next device; empty: the same as `refused`
  std::string_view out_of_range = "";
  std::string_view waits = "";         // for a reset; {why} is NVML's reason
  std::string_view waits_in_use = "";  // the same where the reason is that the device is in use
  std::string_view format = "";        // what to type instead of clocks that cannot be read
  std::string_view mode_name = "";     // of numbers that are no mode: "Invalid ECC type: 7"
};

struct SettingRow {
  SettingKind kind;
  std::string_view word;  // "power-limit"
  std::string_view name;  // "power limit"
  Takes takes;
  std::span<const Mode> modes = {};
  std::span<const MetricId> shown_by = {};  // the first of them that the device has
  std::optional<MetricId> default_value = {}, minimum = {}, maximum = {};
  Effect effect = Effect::lasting;
  bool only_when_idle = false;  // refused while a process uses the device
  std::span<const SmiOption> smi_options = {};
  SmiSentences smi = {};
  Action action = {};  // empty: a value is set
};

inline bool has_default(const SettingRow &row) {
  return row.takes == Takes::watts || row.takes == Takes::clocks || row.takes == Takes::clock_pair;
}
inline bool is_action(const SettingRow &row) { return !row.action.intention.empty(); }

std::span<const SettingRow> setting_rows();
const SettingRow &row_of(SettingKind kind);

// Null where the setting has no such mode.
const Mode *find_mode(const SettingRow &row, double value);

}  // namespace gpulse::control
